/*
 * The life of an occurrence, small enough to be searched whole: one schedule, two schedulers, two workers, an operator
 * who pauses and resumes, a clock, leases that end whenever they like, and crashes at every step.
 *
 * What is one step here is one transaction, or one statement, there: between two steps anybody else may do anything, and
 * whoever is in the middle may die. A process that dies comes back knowing nothing, as a new one would.
 *
 * Where one of several steps is chosen, each begins with a condition of its own, if only with `true`: an `else` at the beginning of one
 * would mean that no other can be taken, and a crash nearly always can.
 *
 * Each guard can be taken away by a name (-D): what then breaks, and what does not since another guard holds, is checked by
 * `npm run model` too. See docs/reference/model.md.
 */

#define PLAN_TIMES 2   /* the schedule's plan times are 1 and 2, at these ticks of the clock */
#ifndef CRASHES
#define CRASHES 2
#endif
#ifndef EXPIRIES
#define EXPIRIES 2     /* leases that end although their worker is alive: a long pause, a cut connection */
#endif
#ifndef PAUSES
#define PAUSES 1
#endif
#define ATTEMPTS 2
#define NOBODY 0

/* The database. */
byte now = 0                       /* its clock */
byte decided = 0                   /* decided_through: every plan time up to here has its outcome */
byte version = 1
bool paused = false
byte locked_by = NOBODY            /* the schedule's row */

mtype = { none, pending, running, retrying, succeeded, failed }
mtype state[PLAN_TIMES + 1] = none
byte token[PLAN_TIMES + 1] = 0     /* of the newest lease */
byte attempt[PLAN_TIMES + 1] = 0
bool orphan[PLAN_TIMES + 1] = false  /* its worker is dead */

/* What somebody outside has seen. */
byte runs[PLAN_TIMES + 1] = 0      /* runs made for each plan time */
byte skips[PLAN_TIMES + 1] = 0
byte ends[PLAN_TIMES + 1] = 0      /* outcomes recorded; a transactional job's effect is in the same transaction */
byte crashes = 0
byte expiries = 0
byte pauses = 0

#define OPEN(p) (state[p] == pending || state[p] == running || state[p] == retrying)
#define IS_NEWEST(p, mine) (state[p] == running && token[p] == mine)

/* What the statement of an outcome asks for. Without the token it still needs a row that is open. */
#ifdef NO_FENCE
#define MAY_RECORD(p, mine) OPEN(p)
#else
#define MAY_RECORD(p, mine) IS_NEWEST(p, mine)
#endif

/* Where the cursor moves in a transaction of its own, plan times whose runs somebody alive is about to insert. */
#ifdef CURSOR_FIRST
byte coming[PLAN_TIMES + 1] = 0
#define IS_COMING(p) (coming[p] > 0)
#else
#define IS_COMING(p) false
#endif

#define ALL_ENDED (decided >= PLAN_TIMES && !(OPEN(1) || OPEN(2) || IS_COMING(1) || IS_COMING(2)))

#ifdef NO_LOCK
#define ROW_IS_FREE true
#else
#define ROW_IS_FREE (locked_by == NOBODY)
#endif

#ifdef HOST_CLOCK
#define CLOCK (now + 1)            /* of a host that is ahead */
#else
#define CLOCK now
#endif
#define DUE (CLOCK > decided && decided < PLAN_TIMES)

inline take_row() {
  locked_by = _pid
}

inline leave_row() {
  if
  :: locked_by == _pid -> locked_by = NOBODY
  :: else
  fi
}

/* At every instant, of both plan times. `npm run model` knows the assertions by their texts. */
#define DOUBLE(p) (runs[p] + skips[p] > 1)
#define UNANSWERED(p) (decided >= p && runs[p] + skips[p] == 0 && !IS_COMING(p))
#define ENDED_TWICE(p) (ends[p] > 1)
#define ENDED_UNMADE(p) (ends[p] > runs[p])
inline check_all() {
  assert(!DOUBLE(1) && !DOUBLE(2));
  assert(!UNANSWERED(1) && !UNANSWERED(2));
  assert(!ENDED_TWICE(1) && !ENDED_TWICE(2));
  assert(!ENDED_UNMADE(1) && !ENDED_UNMADE(2))
}

/* A process dies: its session ends, and with it the locks and what it had not committed. */
inline die() {
  atomic { crashes++; leave_row(); check_all() }
}

inline insert_run(p) {
  assert(p <= now);                /* never early, by the clock of the database */
  if
#ifndef NO_KEY
  :: runs[p] > 0                   /* on conflict do nothing: the id follows from schedule and plan time */
#endif
  :: else ->
    runs[p]++;
    state[p] = pending
  fi
}

/* One statement: the cursor moves by compare-and-set, and what it returned says which rows are inserted. */
inline record(from, as_of, through) {
  if
#ifndef NO_CAS
  :: decided != from || version != as_of
#endif
  :: else ->
    each = from + 1;
    do
    :: each > through || each > PLAN_TIMES -> break
    :: else -> insert_run(each); each++
    od;
    decided = through
  fi
}

#ifdef CURSOR_FIRST
inline announce(from, through, by) {
  each = from + 1;
  do
  :: each > through || each > PLAN_TIMES -> break
  :: else -> coming[each] = coming[each] + by; each++
  od
}
#endif

inline end_run(p, outcome) {
  ends[p]++;
  state[p] = outcome
}

inline fail_attempt(p) {
  if
  :: attempt[p] >= ATTEMPTS -> end_run(p, failed)
  :: else -> state[p] = retrying
  fi
}

proctype scheduler() {
  byte from, as_of, through, each;
  do
  :: decided >= PLAN_TIMES -> break
  :: atomic {
      /* for update skip locked; what is due is known by the database's clock */
      !paused && DUE && ROW_IS_FREE -> take_row();
      from = decided;
      as_of = version;
      through = CLOCK
    };
    if
    :: crashes < CRASHES -> die()
#ifdef CURSOR_FIRST
    :: true -> atomic {
        if
        :: decided != from || version != as_of -> through = from
        :: else ->
          announce(from, through, 1);
          decided = through
        fi;
        leave_row();               /* committed by itself */
        check_all()
      };
      if
      :: crashes < CRASHES -> atomic { announce(from, through, -1); die() }
      :: true -> atomic {
          announce(from, through, -1);
          each = from + 1;
          do
          :: each > through || each > PLAN_TIMES -> break
          :: else -> insert_run(each); each++
          od;
          check_all()
        }
      fi
#else
    :: true -> atomic { record(from, as_of, through); leave_row(); check_all() }
#endif
    fi;
    atomic { from = 0; as_of = 0; through = 0; each = 0 }   /* so that states which differ in nothing are one */
  od
}

/* A verb locks the row, reads the clock, settles what is due under what was before, and then applies. */
proctype operator() {
  byte each;
  do
  :: pauses == PAUSES && !paused -> break
  :: atomic {
      (paused || pauses < PAUSES) && locked_by == NOBODY -> locked_by = _pid
    };
    if
    :: crashes < CRASHES -> die()
    :: true -> atomic {
        each = decided + 1;
        do
        :: each > now || each > PLAN_TIMES -> break
        :: else ->
          if
          :: paused -> skips[each]++
          :: else -> insert_run(each)
          fi;
          each++
        od;
        if
        :: now > decided -> decided = now
        :: else
        fi;
        if
        :: paused -> paused = false
        :: else -> paused = true; pauses++
        fi;
        version++;
        leave_row();
        check_all()
      }
    fi;
    each = 0
  od
}

proctype worker() {
  byte p, mine;
  do
  :: ALL_ENDED -> break
  :: atomic {
      /* claims one, whichever: for update skip locked */
      if
      :: state[1] == pending || state[1] == retrying -> p = 1
      :: state[2] == pending || state[2] == retrying -> p = 2
      fi;
      state[p] = running;
      token[p]++;
      attempt[p]++;
      mine = token[p]
    };
    if
    :: crashes < CRASHES -> atomic {
        die();
        if
        :: IS_NEWEST(p, mine) -> orphan[p] = true
        :: else
        fi
      }
    /* The handler returns, or throws; anything may have happened to its lease meanwhile. */
    :: true -> atomic {
        if
        :: MAY_RECORD(p, mine) ->
          assert(IS_NEWEST(p, mine));        /* only the newest lease completes, */
          end_run(p, succeeded)
        :: else                              /* refused: it is somebody else's now */
        fi;
        check_all()
      }
    :: true -> atomic {
        if
        :: MAY_RECORD(p, mine) ->
          assert(IS_NEWEST(p, mine));        /* fails, or reschedules */
          fail_attempt(p)
        :: else
        fi;
        check_all()
      }
    fi;
    atomic { p = 0; mine = 0 }
  od
}

/* Leases end: those of the dead surely, and now and then one whose worker is only slow. */
#define ENDS_NOW(p) (state[p] == running && (orphan[p] || expiries < EXPIRIES))

proctype leases() {
  byte p;
  do
  :: ALL_ENDED -> break
  :: atomic {
      if
      :: ENDS_NOW(1) -> p = 1
      :: ENDS_NOW(2) -> p = 2
      fi;
      if
      :: orphan[p] -> orphan[p] = false
      :: else -> expiries++
      fi;
      fail_attempt(p);
      check_all()
    }
  od
}

proctype clock() {
  do
  :: now < PLAN_TIMES -> now++
  :: else -> break
  od
}

init {
  atomic {
    run scheduler(); run scheduler();
    run worker(); run worker();
    run operator(); run clock();
#ifndef NO_RECOVERY
    run leases()
#endif
  }
}

/* In the end everything has come to its end, since crashes and slow workers do. */
#define DONE(p) (skips[p] == 1 || (ends[p] == 1 && !OPEN(p)))
ltl all_end { <> (decided >= PLAN_TIMES && DONE(1) && DONE(2)) }
