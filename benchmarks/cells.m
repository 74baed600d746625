-- Many states, few transitions each: a ring of N counters 0..3; one steps on, or starts over beside a full one.
--
--   rumur --deadlock-detection off --output /tmp/cells.c benchmarks/cells.m
--   cc -O2 -mcx16 -std=c11 -o /tmp/cells /tmp/cells.c -lpthread && /tmp/cells

const
  N: 10;

type
  cell: 0 .. N - 1;

var
  c: array [cell] of 0 .. 3;

startstate
begin
  for i: cell do c[i] := 0; end;
end;

ruleset i: cell do
  rule "step"
    true
  ==>
  begin
    if c[(i + N - 1) % N] = 3 then c[i] := 0; else c[i] := (c[i] + 1) % 4; end;
  end;
end;
