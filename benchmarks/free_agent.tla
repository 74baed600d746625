----------------------------- MODULE free_agent -----------------------------
(* The free-agent graph in TLA+.  State: a value per key, a status per agent, the livelock counter.  A step is one joint
   choice; an agent that left has one dummy choice.

     java -cp tla2tools.jar tlc2.TLC -deadlock -config free_agent.cfg free_agent.tla

   free_agent.cfg:  INIT Init  NEXT Next  CONSTANT N = 3  CONSTANT K = 2  CONSTANT V = 2
   (agents, keys, values that a key may take) *)
EXTENDS Naturals
CONSTANTS N, K, V
VARIABLES world, agents, counter

Agents == 0 .. N - 1
Keys == 0 .. K - 1
Choices == 0 .. 1 + K + K * V  \* 0 exit, 1 no action, then K reads, then K * V writes

Writes(c) == c >= 2 + K
Aim(c) == IF Writes(c) THEN (c - 2 - K) \div V ELSE c - 2
Value(c) == (c - 2 - K) % V
Passes(a, c) == c >= 2 /\ ~(Writes(c) /\ ((a = N - 1 /\ Aim(c) = 0) \/ (K >= 3 /\ Aim(c) = K - 1)))

Init ==
  /\ world = [k \in Keys |-> 0]
  /\ agents = [a \in Agents |-> "none"]
  /\ counter = 0

Epoch(chosen) ==
  LET passing == {a \in Agents : Passes(a, chosen[a])}
      blocked == {a \in passing : \E b \in passing \ {a} :
        Aim(chosen[a]) = Aim(chosen[b]) /\ (Writes(chosen[a]) \/ Writes(chosen[b]))}
      writing == {a \in passing \ blocked : Writes(chosen[a])}
      outcome(a) ==
        CASE chosen[a] = 0 -> "exited"
          [] chosen[a] = 1 -> "no action"
          [] a \in passing \ blocked -> "executed"
          [] OTHER -> "refused"
  IN /\ world' = [k \in Keys |->
          IF \E a \in writing : Aim(chosen[a]) = k
          THEN Value(chosen[CHOOSE a \in writing : Aim(chosen[a]) = k]) ELSE world[k]]
     /\ agents' = [a \in Agents |-> outcome(a)]
     /\ counter' = IF blocked = {} \/ world' # world THEN 0 ELSE IF counter < 3 THEN counter + 1 ELSE 3

Next ==
  /\ agents # [a \in Agents |-> "exited"]  \* \E would be a choice, and each step counted once for each agent
  /\ \E chosen \in [Agents -> Choices] :
       /\ \A a \in Agents : agents[a] = "exited" => chosen[a] = 0
       /\ Epoch(chosen)
=============================================================================
