"""simpy: processes ask for one resource. Who gets it first when they ask at the same time?

The documented rule (4.1.2), `simpy/resources/base.py`, BaseResource.put_queue: "Queue of pending *put* requests", and
PutQueue: "It is a plain `list` by default". So who asked earlier is served earlier; of processes that ask at the same
simulated time, the one that was started earlier asked earlier.
"""

import simpy


class Pump:
    """The agents are processes, in the order in which they are started; a choice is the time at which one asks."""

    resource = simpy.Resource

    def __init__(self, agents):
        self.agents, self.served = agents, {}

    def choices(self, agent):
        return () if self.served else (0, 1, 2)

    def request(self, pump, agent):
        return pump.request()

    def act(self, profile):
        env = simpy.Environment()
        pump = self.resource(env, capacity=1)

        def visit(agent):
            yield env.timeout(profile[agent])
            with self.request(pump, agent) as turn:
                yield turn
                self.served[agent] = f"served at {env.now}"
                yield env.timeout(3)

        for agent in self.agents:
            env.process(visit(agent))
        env.run()
        return self.served
