-- The free-agent graph as a Murphi model: a third origin of the pinned counts, in another language and
-- another checker.  State: a value per key, a status per agent, the livelock counter.  One rule firing is one
-- joint choice: agents that left, and agents beyond N, have exactly one dummy choice, so that "rules fired"
-- counts states times joint choices.  Deadlock detection is off, for nobody active is no error here.
--
--   sed 's/N: 2/N: 3/; s/K: 2/K: 3/; s/V: 2/V: 2/' benchmarks/free_agent.m > /tmp/free.m
--   rumur --deadlock-detection off --output /tmp/free.c /tmp/free.m
--   cc -O2 -mcx16 -std=c11 -o /tmp/free /tmp/free.c -lpthread && /tmp/free

const
  N: 2; -- agents
  K: 2; -- keys
  V: 2; -- values a key may take
  MOST: 4;

type
  agent: 0 .. MOST - 1;
  key: 0 .. K - 1;
  value: 0 .. V - 1;
  status: enum { Exited, None, Executed, Refused, NoAction };
  -- 0 exit, 1 no action, then K reads, then K * V writes
  choice: 0 .. 1 + K + K * V;

var
  world: array [key] of value;
  agents: array [agent] of status;
  counter: 0 .. 3;

function submits(c: choice): boolean;
begin
  return c >= 2;
end;

function writes(c: choice): boolean;
begin
  return c >= 2 + K;
end;

function aim(c: choice): key;
begin
  if writes(c) then
    return (c - 2 - K) / V;
  else
    return c - 2;
  end;
end;

function passes(a: agent; c: choice): boolean;
begin
  if !submits(c) then
    return false;
  end;
  if writes(c) & ((a = N - 1 & aim(c) = 0) | (K >= 3 & aim(c) = K - 1)) then
    return false;
  end;
  return true;
end;

startstate
begin
  for k: key do world[k] := 0; end;
  for a: agent do
    if a < N then agents[a] := None; else agents[a] := Exited; end;
  end;
  counter := 0;
end;

ruleset c0: choice; c1: choice; c2: choice; c3: choice do
  rule "epoch"
    (exists a: agent do agents[a] != Exited end) &
    (agents[0] != Exited | c0 = 0) & (agents[1] != Exited | c1 = 0) &
    (agents[2] != Exited | c2 = 0) & (agents[3] != Exited | c3 = 0)
  ==>
  var
    chosen: array [agent] of choice;
    blocked: array [agent] of boolean;
    unchanged: boolean;
    collided: boolean;
  begin
    chosen[0] := c0; chosen[1] := c1; chosen[2] := c2; chosen[3] := c3;
    unchanged := true;
    collided := false;
    for a: agent do
      blocked[a] := false;
      if passes(a, chosen[a]) then
        for b: agent do
          if a != b & passes(b, chosen[b]) then
            if aim(chosen[a]) = aim(chosen[b]) & (writes(chosen[a]) | writes(chosen[b])) then
              blocked[a] := true;
              collided := true;
            end;
          end;
        end;
      end;
    end;
    for a: agent do
      if chosen[a] = 0 then
        agents[a] := Exited;
      elsif chosen[a] = 1 then
        agents[a] := NoAction;
      elsif blocked[a] | !passes(a, chosen[a]) then
        agents[a] := Refused;
      else
        agents[a] := Executed;
        if writes(chosen[a]) then
          if world[aim(chosen[a])] != (chosen[a] - 2 - K) % V then
            unchanged := false;
            world[aim(chosen[a])] := (chosen[a] - 2 - K) % V;
          end;
        end;
      end;
    end;
    if collided & unchanged then
      if counter < 3 then counter := counter + 1; end;
    else
      counter := 0;
    end;
  end;
end;

-- to ask for the shortest path, make this an invariant:  invariant "below the limit" counter < 3;
