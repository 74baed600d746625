------------------------------- MODULE cells -------------------------------
(* Many states, few transitions each: a ring of N counters 0..3; one steps on, or starts over beside a full one.

     java -cp tla2tools.jar tlc2.TLC -deadlock -config cells.cfg cells.tla

   cells.cfg:  INIT Init  NEXT Next  CONSTANT N = 10 *)
EXTENDS Naturals
CONSTANT N
VARIABLE c

Init == c = [i \in 0 .. N - 1 |-> 0]

Next == \E i \in 0 .. N - 1 :
  c' = [c EXCEPT ![i] = IF c[(i + N - 1) % N] = 3 THEN 0 ELSE (c[i] + 1) % 4]
=============================================================================
