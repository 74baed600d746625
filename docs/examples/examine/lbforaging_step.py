"""lbforaging: agents that move to one cell. Is the one listed first favoured, and can two stand in one cell?

The documented rule (2.0.0), `lbforaging/foraging/environment.py`, ForagingEnv.step: "if two or more players try to move
to the same location they all fail", and "make sure no more than an player will arrive at location".
"""

from lbforaging.foraging.environment import Action, ForagingEnv

CELLS = 4


class Row:
    """A row of cells without food. An agent chooses where it starts and where it moves; nobody may share a start."""

    def __init__(self, agents):
        self.agents, self.cells = agents, {}

    def choices(self, agent):
        return [(start, move) for start in range(CELLS) for move in ("EAST", "WEST")] if not self.cells else []

    def act(self, profile):
        starts = [profile[agent][0] for agent in self.agents]
        if len(set(starts)) < len(starts):
            self.cells = dict.fromkeys(profile)
            return self.cells
        levels = {"min_player_level": 1, "max_player_level": 1, "min_food_level": 1, "max_food_level": None}
        size = {"field_size": (CELLS, CELLS), "max_num_food": 0, "sight": CELLS, "max_episode_steps": 9}
        env = ForagingEnv(len(self.agents), **levels, **size, force_coop=False)
        env.reset(seed=0)
        for player, start in zip(env.players, starts, strict=True):
            player.position = (0, start)
        assert env.test_gen_valid_moves()
        env.step([Action[profile[agent][1]] for agent in self.agents])
        self.cells = {agent: int(player.position[1]) for agent, player in zip(self.agents, env.players, strict=True)}
        return self.cells

    def holds(self, agent):
        return [] if self.cells[agent] is None else [self.cells[agent]]
