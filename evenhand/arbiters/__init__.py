"""`evenhand.examine`: does anything decide in a kernel that should not?  It needs neither protocol nor model."""
