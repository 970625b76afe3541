// Histories of a lab with many users, and invariants for every step and for the end.
import fc from 'fast-check';
import { expect } from 'vitest';
import {
  acquireLease,
  type Lease,
  LeaseLostError,
  NotReservedError,
  type QueueWait,
} from '../../src/gate/reserve/lease.ts';
import {
  type HeldTestbed,
  keys,
  type LabState,
  type LoggedReservation,
  type QueueTicket,
  readLab,
  readLog,
} from '../../src/gate/reserve/records.ts';
import { liftQuarantine, type ReservationRequest, setQuarantine } from '../../src/gate/reserve/reservation.ts';
import { type Store, type StoreChange, StoreError, type StoreSnapshot } from '../../src/gate/reserve/store/store.ts';
import { type Priority, priorities } from '../../src/model/priority.ts';
import { plainAssign, type Wanting } from './plain-queue.ts';
import { type OnCommit, type Process, type ReservationLab, takeAway } from './reservation-lab.ts';
import { storeWith } from './store-with.ts';

/** Each shares one machine with the next. */
const testbeds: ReadonlyMap<string, readonly string[]> = new Map([
  ['a', ['dut-a']],
  ['b', ['dut-a', 'generator']],
  ['c', ['generator', 'dut-c']],
  ['d', ['dut-c']],
]);

export type History = {
  /** Determines who comes next. */
  seed: number;
  commands: readonly Command[];
};

/** There is one process for each `who`; a command that does not apply to it has no effect. */
export type Command =
  | { kind: 'request'; who: number; wants: string[]; priority: Priority; subject?: string }
  /** A holder of a testbed uses all its machines. */
  | { kind: 'work' | 'cancel' | 'crash' | 'fix'; who: number }
  /** Possibly right after it began to use a machine, or to check its lease. */
  | { kind: 'stop' | 'wake'; who: number; isWorking: boolean }
  /** May request another one, in the old place. */
  | { kind: 'release'; who: number; isClean: boolean; isSick: boolean; comesBack: boolean }
  | { kind: 'cut'; who: number; lost: 'requests' | 'answers' }
  /** Cuts it off for that many steps. */
  | { kind: 'blink'; who: number; lost: 'requests' | 'answers'; count: number }
  | { kind: 'take away' | 'quarantine' | 'lift'; testbed: string }
  | { kind: 'step'; count: number }
  | { kind: 'settle' }
  | { kind: 'elapse' | 'lag'; leases: number }
  | { kind: 'jump'; days: number };

const selectors = ['a', 'b', 'c', 'd', 'ab', 'ba', 'cd', 'ca', 'dba'].map((names) => [...names]);

export function histories(maxLength: number): fc.Arbitrary<History> {
  const who = fc.nat(4);
  const testbed = fc.constantFrom(...testbeds.keys());
  const count = fc.integer({ min: 1, max: 12 });
  const command = <Kind extends string, Rest extends object>(
    kinds: readonly Kind[],
    rest: { [Key in keyof Rest]: fc.Arbitrary<Rest[Key]> },
  ) => fc.tuple(fc.constantFrom(...kinds), fc.record(rest)).map(([kind, rest]) => ({ kind, ...rest }));
  const often = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });
  const request = {
    who,
    wants: fc.constantFrom(...selectors),
    priority: fc.constantFrom<Priority>('patch', 'patch', 'release', 'rerun'),
  };
  const ofSubject = {
    wants: fc.constantFrom<string[]>(['a'], ['c', 'a']),
    subject: fc.constantFrom('one', 'other'),
  };
  const commands: fc.Arbitrary<Command> = fc.oneof(
    often(10, command(['request'], request)),
    often(5, command(['request'], { ...request, ...ofSubject })),
    often(4, command(['settle'], {})),
    often(5, command(['step'], { count })),
    often(4, command(['elapse', 'lag'], { leases: fc.double({ min: 0.02, max: 0.9, noNaN: true }) })),
    often(2, command(['elapse'], { leases: fc.double({ min: 1, max: 1.5, noNaN: true }) })),
    often(3, command(['work'], { who })),
    often(
      4,
      command(['release'], {
        who,
        isClean: fc.boolean(),
        isSick: rarely,
        comesBack: fc.constant(false),
      }),
    ),
    often(
      2,
      command(['release'], {
        who,
        isClean: fc.boolean(),
        isSick: fc.boolean(),
        comesBack: fc.constant(true),
      }),
    ),
    often(2, command(['crash', 'cancel'], { who })),
    often(6, command(['stop', 'wake'], { who, isWorking: fc.boolean() })),
    often(2, command(['cut'], { who, lost: fc.constantFrom('requests', 'answers') })),
    often(3, command(['blink'], { who, lost: fc.constantFrom('requests', 'answers'), count })),
    often(2, command(['fix'], { who })),
    often(3, command(['take away', 'quarantine', 'lift'], { testbed })),
    often(1, command(['jump'], { days: fc.integer({ min: -400, max: 400 }) })),
  );
  return fc.record({
    seed: fc.integer(),
    commands: fc.array(commands, { maxLength, size: 'max' }),
  });
}

const rarely = fc.nat(5).map((number) => number === 5);

/** Plays it in a new lab, which is then closed. Throws if an invariant is violated. */
export async function play(history: History, lab: ReservationLab): Promise<void> {
  const model = modelOf(lab, await lab.start('operator'));
  try {
    for (const command of history.commands) {
      await model.obey(command);
      await model.check();
    }
    await model.end();
  } finally {
    await lab.close();
  }
}

/** A process that requests one testbed. */
type Claim = {
  process: Process;
  request: ReservationRequest;
  /** Since it waited. */
  ticket?: { id: string; order: number };
  lease?: Lease;
  /** All machines know the lease. */
  isReady: boolean;
  isDead: boolean;
  isCancelled: boolean;
  /** Ends its session, and will report why. */
  isLeaving: boolean;
  /** The store confirmed its place in the queue. */
  isIn: boolean;
  wasCut: boolean;
  release: 'none' | 'begun' | 'done';
  /** Before the session could be over. */
  isGivenBack: boolean;
  /** All work that it has begun. */
  work: Promise<unknown>;
  /** Outcome of the request or, later, of the lease. */
  end?: { error: unknown; wasAlive: boolean };
  seen?: StoreSnapshot;
};

function modelOf(lab: ReservationLab, operator: Process) {
  const { onlooker } = lab;
  const claims: Claim[] = [];
  const current = new Map<number, Claim>();
  const machines = makeMachines();
  const violations: Error[] = [];

  /** True as far as the process itself knows. */
  const isAlive = ({ process }: Claim): boolean => lab.now() < process.aliveUntil();

  const isWaiting = ({ lease, end, isDead, isCancelled, isLeaving }: Claim): boolean =>
    lease === undefined && end === undefined && !isDead && !isCancelled && !isLeaving;

  const isHolding = ({ lease, end, isDead, release }: Claim): boolean =>
    lease !== undefined && end === undefined && !isDead && release === 'none';

  function begin(request: ReservationRequest, process: Process, order?: number): Claim {
    const claim: Claim = {
      process,
      request,
      isReady: false,
      isDead: false,
      isCancelled: false,
      isLeaving: false,
      isIn: false,
      wasCut: false,
      release: 'none',
      isGivenBack: false,
      work: Promise.resolve(),
    };
    claims.push(claim);
    void live(claim, order).catch((error: unknown) => noteEnd(claim, error));
    return claim;
  }

  let laggedSeconds = 0;

  async function live(claim: Claim, order?: number): Promise<void> {
    const deps = {
      ...claim.process.deps,
      store: watched(claim),
      onWait({ ticket }: QueueWait) {
        claim.isIn = true;
        claim.ticket ??= { id: ticket.id, order: ticket.order };
      },
    };
    const lease = await acquireLease(claim.request, deps, order);
    claim.lease = lease;
    if (lease.signal.aborted) noteEnd(claim, lease.signal.reason);
    lease.signal.addEventListener('abort', () => noteEnd(claim, lease.signal.reason));
    for (const machine of lease.holding.machines) await use(claim, lease, machine, 'raise');
    claim.isReady = true;
  }

  function noteEnd(claim: Claim, error: unknown): void {
    const { aliveUntil, wasLate } = claim.process;
    // A process counts from before its request, which may have been slow.
    const latest = lab.now() + laggedSeconds;
    claim.end ??= { error, wasAlive: latest < aliveUntil() && !wasLate() };
  }

  function work(claim: Claim): void {
    const { lease, isReady, process } = claim;
    if (lease === undefined || !isReady || !isHolding(claim) || !process.isRunning()) return;
    const uses = async () => {
      for (const machine of lease.holding.machines) await use(claim, lease, machine, 'command');
    };
    const used = uses().catch((error: unknown) => noteEnd(claim, error));
    claim.work = Promise.all([claim.work, used]);
  }

  /** Like a fenced host: checks its own clock first, then the machine. */
  async function use(claim: Claim, lease: Lease, machine: string, how: 'raise' | 'command') {
    const { name, aliveUntil } = claim.process;
    lease.assertHeld();
    if (lab.now() >= aliveUntil()) violate(`${name} believes in a session that is over`);
    await provesOurs(claim);
    await claim.process.turn();
    if (machines[how](machine, lease.token)) return;
    const { held } = await readLab(onlooker);
    if (held.get(machine)?.token === lease.token) {
      violate(`${machine} refuses ${name}, who holds it with ${lease.token}`);
    }
    throw new RefusedError(`${machine} refuses ${lease.token}`);
  }

  /** A process that considers itself the holder is right. */
  async function provesOurs(claim: Claim): Promise<void> {
    const { lease, process } = claim;
    if (lease === undefined || !isHolding(claim) || !isAlive(claim)) return;
    const { held } = await readLab(onlooker);
    // Losses are permanent, and a process that still considers itself the holder asked the store just now.
    if (!isHolding(claim) || !isAlive(claim)) return;
    const { id, machines } = lease.holding;
    if (machines.every((machine) => held.get(machine)?.token === lease.token)) return;
    const [logged] = await readLog(onlooker, id);
    if (wasTakenAway(logged)) return;
    violate(`${process.name} believes to hold ${lease.testbed} with ${lease.token}, and does not`);
  }

  /** A live waiting process is in the queue, in its announced place. */
  async function isInPlace(claim: Claim, ticket: { id: string; order: number }): Promise<void> {
    const { tickets, held } = await readLab(onlooker);
    if (!isWaiting(claim) || !isAlive(claim)) return;
    const found = tickets.find(({ id }) => id === ticket.id);
    if (found?.order === ticket.order) return;
    if (held.values().some(({ id }) => id === ticket.id)) return;
    const [logged] = await readLog(onlooker, ticket.id);
    if (wasTakenAway(logged) || wasReplaced(logged)) return;
    violate(`${claim.process.name} waits at ${ticket.order}, and is in the queue ${found?.order}`);
  }

  /** The store as the process sees it; compares each grant with the simple queue. */
  function watched(claim: Claim): Store {
    const { store, name } = claim.process;
    return storeWith(store, {
      endSession(session) {
        claim.isLeaving = true;
        return store.endSession(session);
      },
      async read(prefix) {
        const snapshot = await store.read(prefix);
        if (prefix === 'lab/') claim.seen = snapshot;
        return snapshot;
      },
      async commit(change) {
        const taking = takingOf(change);
        const { seen } = claim;
        if (taking !== undefined && seen !== undefined) {
          const { id, testbed } = taking;
          const known = await readLab(storeWith(store, { read: async () => seen }));
          const plain = plainGrants(withTicket(known, taking, claim.request));
          if (plain.get(id) !== testbed) {
            violate(`${name} takes ${testbed}, and not ${plain.get(id)}`);
          }
        }
        const revision = await store.commit(change);
        const isEntering = change.put.some(({ key }) => key.startsWith('lab/wait/'));
        // A process with a subject looks again before it counts as waiting.
        claim.isIn ||= isEntering && revision !== undefined && claim.request.subject === undefined;
        return revision;
      },
    });
  }

  /** Conditions of a commit at the moment of its execution. */
  const checkedCommit: OnCommit = async (change, commit) => {
    const before = await readLab(onlooker);
    const log = await readLog(onlooker);
    const revision = await commit(change);
    if (revision === undefined) return undefined;
    const taking = takingOf(change);
    if (taking !== undefined) checkTaking(taking, before, log);
    checkEntering(change, before, await readLab(onlooker), log);
    return revision;
  };

  function checkTaking(
    { id, testbed, machines }: Taking,
    { tickets, held, quarantines }: LabState,
    log: readonly LoggedReservation[],
  ): void {
    const isNew = !log.some((logged) => logged.id === id);
    if (!isNew && !tickets.some((ticket) => ticket.id === id)) violate(`${id} takes, and has left`);
    if (quarantines.has(testbed)) violate(`${id} takes ${testbed}, which is in quarantine`);
    if (machines.some((machine) => held.has(machine))) violate(`${id} takes what is held`);
  }

  /** Replacing another process means replacing a waiting one, and taking its place. */
  function checkEntering(
    { put, remove }: StoreChange,
    before: LabState,
    after: LabState,
    log: readonly LoggedReservation[],
  ): void {
    const isPut = ({ id }: { id: string }) => put.some(({ key }) => key === keys.ticket(id));
    const entered = after.tickets.find(isPut);
    if (entered === undefined) return;
    if (wasReplaced(log.find(isPut))) violate(`${entered.id} comes back to the queue`);
    for (const key of remove) {
      const replaced = before.tickets.find(({ id }) => key === keys.ticket(id));
      if (replaced === undefined) violate(`${entered.id} replaces who does not wait`);
      else if (replaced.order < entered.order) violate(`${entered.id} has not the place`);
    }
  }

  function violate(message: string): void {
    violations.push(new Error(message));
  }

  async function check(): Promise<void> {
    const { tickets } = await readLab(onlooker);
    const turns = tickets.map(({ priority, order }) => priorities.indexOf(priority) * 1e15 + order);
    expect(turns).toEqual(turns.toSorted((a, b) => a - b));
    for (const claim of claims) {
      await provesOurs(claim);
      if (claim.ticket !== undefined) await isInPlace(claim, claim.ticket);
    }
    const [violation] = violations;
    if (violation !== undefined) throw violation;
  }

  /** Done by the operator, who is never cut off. */
  function order(work: Promise<unknown>): void {
    work.catch((error: Error) => violations.push(error));
  }

  async function obey(command: Command): Promise<void> {
    const { store } = operator;
    const at = lab.date();
    switch (command.kind) {
      case 'request':
        return ask(command);
      case 'take away':
        return order(takeAway(store, command.testbed, 'operator', at));
      case 'quarantine': {
        const quarantine = { reason: 'broken', by: 'operator', since: at.toISOString() };
        return order(setQuarantine(store, command.testbed, quarantine));
      }
      case 'lift':
        return order(liftQuarantine(store, command.testbed));
      case 'step':
        return lab.step(command.count);
      case 'settle':
        return lab.settle();
      case 'lag':
        laggedSeconds += command.leases * lab.leaseSeconds;
        return lab.lag(command.leases * lab.leaseSeconds);
      case 'elapse':
        return lab.elapse(command.leases * lab.leaseSeconds);
      case 'jump':
        return lab.jump(command.days * 24 * 3600);
      default: {
        const claim = current.get(command.who);
        if (claim !== undefined && !claim.isDead) await obeyWith(claim, command);
      }
    }
  }

  async function ask(command: Command & { kind: 'request' }): Promise<void> {
    const { who, wants, priority, subject } = command;
    const before = current.get(who);
    if (before !== undefined && (isWaiting(before) || isHolding(before))) return;
    if (before?.release === 'begun') return;
    const name = `actor ${who}, process ${claims.length}`;
    const request = {
      testbeds: new Map(wants.map((wanted) => [wanted, testbeds.get(wanted) ?? []])),
      priority,
      holder: { who: name, purpose: 'gate' },
      subject,
    };
    current.set(who, begin(request, await lab.start(name, checkedCommit)));
  }

  async function obeyWith(claim: Claim, command: Extract<Command, { who: number }>): Promise<void> {
    const { process } = claim;
    switch (command.kind) {
      case 'work':
        work(claim);
        break;
      case 'release':
        void giveBack(claim, command);
        break;
      case 'cancel':
        if (!isWaiting(claim) || !process.isRunning()) break;
        claim.isCancelled = true;
        process.cancel(new Error('cancelled'));
        break;
      case 'crash':
        claim.isDead = true;
        process.kill();
        break;
      case 'stop':
        if (command.isWorking) work(claim);
        process.stop();
        break;
      case 'wake':
        process.goOn();
        if (command.isWorking) work(claim);
        break;
      case 'cut':
        claim.wasCut = true;
        process.cut(command.lost);
        break;
      case 'fix':
        process.fix();
        break;
      case 'blink':
        claim.wasCut = true;
        process.cut(command.lost);
        await lab.step(command.count);
        process.fix();
        break;
    }
  }

  async function giveBack(
    claim: Claim,
    { isClean, isSick, comesBack }: Omit<Command & { kind: 'release' }, 'kind' | 'who'>,
  ): Promise<void> {
    const { lease, isReady, process } = claim;
    if (lease === undefined || !isReady || !isHolding(claim) || !process.isRunning()) return;
    const quarantine = { reason: 'sick', by: process.name, since: lab.date().toISOString() };
    claim.release = 'begun';
    await claim.work;
    try {
      await lease.release({ outcome: 'ended', isClean, ...(isSick && { quarantine }) });
      claim.isGivenBack = isAlive(claim);
    } catch (error) {
      if (!(error instanceof StoreError && claim.wasCut)) violations.push(error as Error);
    }
    claim.release = 'done';
    if (!comesBack || violations.length > 0) return;
    const next = await lab.start(`${process.name} again`, checkedCommit);
    const again = begin({ ...claim.request, holder: { who: next.name, purpose: 'gate' } }, next, lease.holding.order);
    for (const [who, one] of current) if (one === claim) current.set(who, again);
  }

  /** After any history: once the dead are gone and holders release, all waiting requests are served in turn. */
  async function end(): Promise<void> {
    for (const claim of claims.filter(({ isDead }) => !isDead)) {
      claim.process.fix();
      claim.process.goOn();
    }
    const lifting = [...testbeds.keys()].map((testbed) => liftQuarantine(operator.store, testbed));
    await lab.settle();
    await Promise.all(lifting);
    const { tickets } = await readLab(onlooker);
    checkSubjects(tickets);
    const line = tickets.map(({ id }) => id);
    const until = lab.now() + 30 * lab.leaseSeconds;
    while (claims.some((claim) => isWaiting(claim) || isHolding(claim)) || !(await isFree())) {
      if (lab.now() > until) throw new Error(`No claim is served any more: ${describe(claims)}`);
      for (const claim of claims) {
        work(claim);
        void giveBack(claim, { isClean: true, isSick: false, comesBack: false });
      }
      await lab.elapse(lab.leaseSeconds / 10);
      await check();
    }
    checkTurns(line);
    await checkOutcomes();
    await check();
  }

  const isFree = async () => {
    const { tickets, held } = await readLab(onlooker);
    return tickets.length === 0 && held.size === 0;
  };

  /** Only one request of each subject waits for the same testbeds. */
  function checkSubjects(tickets: readonly QueueTicket[]): void {
    // Leftovers of other processes stay until they expire.
    const isWaitedFor = ({ holder }: QueueTicket) =>
      claims.some((claim) => claim.process.name === holder.who && isWaiting(claim));
    const kinds = tickets
      .filter((ticket) => ticket.subject !== undefined && isWaitedFor(ticket))
      .map(({ subject, wants }) => `${subject}: ${[...wants.keys()]}`);
    expect(kinds).toEqual([...new Set(kinds)]);
  }

  /** Requests for the same testbed were served in order of turns. */
  function checkTurns(line: readonly string[]): void {
    const served = line.flatMap((id) => claims.find(({ ticket }) => ticket?.id === id) ?? []);
    const lines = Map.groupBy(served, ({ request }) => [...request.testbeds.keys()].join());
    for (const [wants, claims] of lines) {
      const tokens = claims.flatMap(({ lease }) => lease?.token ?? []);
      if (!wants.includes(',')) expect(tokens).toEqual(tokens.toSorted((a, b) => a - b));
    }
  }

  /** Every end has a reason, and is in the log. */
  async function checkOutcomes(): Promise<void> {
    const log = await readLog(onlooker);
    const { used } = await readLab(onlooker);
    for (const claim of claims) {
      const logged = log.find(({ holder }) => holder.who === claim.process.name);
      if (!isExplained(claim, logged)) violate(`${describe([claim])} for no reason`);
      if (claim.isGivenBack && logged?.outcome !== 'ended' && !wasTakenAway(logged)) {
        violate(`the log says of ${claim.process.name}: ${logged?.outcome}`);
      }
      if (claim.lease !== undefined && logged === undefined) {
        violate(`the log says nothing of ${claim.process.name}`);
      }
    }
    for (const { id, outcome } of log) {
      // The next process finds out.
      if (outcome === undefined && !used.values().some((use) => use.id === id)) {
        violate(`the log does not say what became of ${id}`);
      }
    }
  }

  return { obey, check, end };
}

function isExplained(claim: Claim, logged: LoggedReservation | undefined): boolean {
  const { end, isDead, isCancelled, isIn, wasCut, seen, request } = claim;
  if (end === undefined || isDead || end.error instanceof RefusedError) return true;
  if (end.error instanceof StoreError) return wasCut && !(isIn && end.wasAlive);
  const message = end.error instanceof Error ? end.error.message : '';
  if (message === 'cancelled') return isCancelled;
  if (!(end.error instanceof NotReservedError || end.error instanceof LeaseLostError)) return false;
  if (/taken away/.test(message)) return wasTakenAway(logged);
  if (/its place/.test(message)) return request.subject !== undefined;
  if (/is quarantined/.test(message)) {
    const names = seen?.entries.map(({ key }) => key) ?? [];
    return request.testbeds.keys().every((name) => names.includes(`lab/quarantine/${name}`));
  }
  return !end.wasAlive;
}

type Taking = Pick<HeldTestbed, 'id' | 'testbed' | 'machines' | 'priority' | 'order'>;

/** The testbed that a change acquires, if any. */
function takingOf({ put }: StoreChange): Taking | undefined {
  const taking = put.find(({ key }) => key.startsWith('lab/held/'));
  return taking && (JSON.parse(taking.value) as Taking);
}

const wasTakenAway = (logged: LoggedReservation | undefined): boolean => logged?.outcome === 'taken away by operator';

const wasReplaced = (logged: LoggedReservation | undefined): boolean =>
  logged?.outcome === 'its place in the queue went to gate';

const describe = (claims: readonly Claim[]): string =>
  claims
    .map(({ process, lease, end, release }) => {
      const what = lease === undefined ? 'waits' : `has ${lease.testbed} (release ${release})`;
      return `${process.name} ${end === undefined ? what : `ended with "${end.error}"`}`;
    })
    .join('; ');

type PlainLab = Pick<LabState, 'held' | 'quarantines'> & { tickets: readonly Wanting[] };

/** Adds the ticket of a request that takes a testbed at once, without one. */
function withTicket(lab: LabState, { id, priority, order }: Taking, { testbeds: wants }: ReservationRequest): PlainLab {
  if (lab.tickets.some((ticket) => ticket.id === id)) return lab;
  return { ...lab, tickets: [...lab.tickets, { id, priority, order, wants }] };
}

function plainGrants({ tickets, held, quarantines }: PlainLab): Map<string, string> {
  const isHealthy = ([testbed]: readonly [string, unknown]) => !quarantines.has(testbed);
  const isFree = ([, machines]: readonly [string, readonly string[]]) => !machines.some((machine) => held.has(machine));
  return plainAssign(
    tickets.map((ticket) => ({ ...ticket, wants: new Map([...ticket.wants].filter(isHealthy)) })),
    new Map([...testbeds].filter(isHealthy).filter(isFree)),
  );
}

/** See src/lab/lease/fence.ts: each machine remembers the highest token, and accepts no command with a lower one. */
function makeMachines() {
  const highest = new Map<string, number>();
  const takes = (machine: string, token: number) => token >= (highest.get(machine) ?? 0);
  return {
    raise(machine: string, token: number): boolean {
      if (takes(machine, token)) highest.set(machine, token);
      return takes(machine, token);
    },
    command: takes,
  };
}

class RefusedError extends Error {}
