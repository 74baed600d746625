/* The free-agent graph as a Promela model, for Spin.  One epoch is one atomic step: each active agent picks, one
   after the other, and then all of it takes effect.  Agents beyond N are gone from the start.

     spin -a -DN=3 -DK=2 -DV=2 -o2 benchmarks/free_agent.pml
     cc -O2 -DSAFETY -DNOREDUCE -DMEMLIM=8192 -o pan pan.c && ./pan -m100000 -w22

   -o2 keeps variables that are only written: without it Spin drops them, and the graph is another one.
   One state and two transitions come on top: those before and while the marks are set.  Collisions are found by
   counting readers and writers of each key, which is quicker than comparing every two agents. */

#define ACTIVE(a) (mark[a] != 0)

/* 0 gone, 1 none yet, 2 executed, 3 refused, 4 no action */
byte mark[N];
byte world[K];
byte counter;
hidden byte pick[N];
hidden byte i;
hidden byte j;
hidden byte collided;
hidden byte same;
hidden byte ok[N];
hidden byte hit[N];
hidden byte readers[K];
hidden byte writers[K];

/* a choice: 0 exit, 1 nothing, 2 .. K+1 read, K+2 .. K+1+K*V write */
#define SUBMITS(c) (c >= 2)
#define WRITES(c) (c >= 2 + K)
#define AIM(c) (WRITES(c) -> (c - 2 - K) / V : c - 2)
#define BANNED(a, c) (WRITES(c) && ((a == N - 1 && AIM(c) == 0) || (K >= 3 && AIM(c) == K - 1)))

inline effect() {
  collided = false; same = true;
  for (i : 0 .. N - 1) {
    ok[i] = ACTIVE(i) && SUBMITS(pick[i]) && !BANNED(i, pick[i]);
    hit[i] = false
  }
  for (j : 0 .. K - 1) { readers[j] = 0; writers[j] = 0 }
  for (i : 0 .. N - 1) {
    if
    :: ok[i] && WRITES(pick[i]) -> writers[AIM(pick[i])]++
    :: ok[i] && !WRITES(pick[i]) -> readers[AIM(pick[i])]++
    :: else
    fi
  }
  for (i : 0 .. N - 1) {
    if
    :: ok[i] && writers[AIM(pick[i])] > 0 && writers[AIM(pick[i])] + readers[AIM(pick[i])] > 1 ->
      hit[i] = true; collided = true
    :: else
    fi
  }
  for (i : 0 .. N - 1) {
    if
    :: !ACTIVE(i)
    :: ACTIVE(i) && pick[i] == 0 -> mark[i] = 0
    :: ACTIVE(i) && pick[i] == 1 -> mark[i] = 4
    :: ACTIVE(i) && SUBMITS(pick[i]) && (!ok[i] || hit[i]) -> mark[i] = 3
    :: ACTIVE(i) && ok[i] && !hit[i] ->
      mark[i] = 2;
      if
      :: WRITES(pick[i]) && world[AIM(pick[i])] != (pick[i] - 2 - K) % V ->
        world[AIM(pick[i])] = (pick[i] - 2 - K) % V; same = false
      :: else
      fi
    fi
  }
  if
  :: collided && same -> if :: counter < 3 -> counter++ :: else fi
  :: else -> counter = 0
  fi;
  i = 0; j = 0
}

#define M (2 + K + K * V)
#define O(a, x) :: ACTIVE(a) -> pick[a] = x
#define O8(a) O(a,0) O(a,1) O(a,2) O(a,3) O(a,4) O(a,5) O(a,6) O(a,7)
#define O11(a) O8(a) O(a,8) O(a,9) O(a,10)
#if K == 2 && V == 2
#define OPTIONS(a) O8(a)
#endif
#if K == 3 && V == 2
#define OPTIONS(a) O11(a)
#endif
#define PICK(a) if :: !ACTIVE(a) -> pick[a] = 0 OPTIONS(a) fi

init {
  d_step { for (i : 0 .. N - 1) { mark[i] = 1 }; i = 0 }
  do
  :: atomic {
    (ACTIVE(0)
#if N > 1
    || ACTIVE(1)
#endif
#if N > 2
    || ACTIVE(2)
#endif
#if N > 3
    || ACTIVE(3)
#endif
#if N > 4
    || ACTIVE(4)
#endif
    ) ->
    PICK(0);
#if N > 1
    PICK(1);
#endif
#if N > 2
    PICK(2);
#endif
#if N > 3
    PICK(3);
#endif
#if N > 4
    PICK(4);
#endif
    d_step { effect() }
  }
  od
}
