/* Many states, few transitions each: a ring of CELLS counters 0..3; one steps on, or starts over beside a full one.

     spin -a -DCELLS=10 -o2 benchmarks/cells.pml
     cc -O2 -DSAFETY -DNOREDUCE -DMEMLIM=8192 -o pan pan.c && ./pan -m3000000 -w24 */

byte c[CELLS];

#define STEP(i) \
  :: d_step { c[(i + CELLS - 1) % CELLS] == 3 -> c[i] = 0 } \
  :: d_step { c[(i + CELLS - 1) % CELLS] != 3 -> c[i] = (c[i] + 1) % 4 }

active proctype ring() {
  do
  STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8) STEP(9)
  od
}
