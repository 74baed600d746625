"""Child processes: start them with limits, talk to them, and end them with everything that they started.

`launch` runs in the child: limits, and an end when the parent ends.  `group` starts and kills a command.  `lines` talks
to one command line by line.  `pool` runs Python functions in forks, several at a time.
"""
