// Makes switching of what a controller can do: believes what it sees and not what it was promised, and asks again in bounds.
import {
  type PowerController,
  PowerError,
  type PowerReading,
  type PowerReply,
} from './power-controller.ts';
import type { PowerDeps } from './power-deps.ts';

/** Each returns when the controller says that it is so, and throws a PowerError where it does not within some minutes. */
export type Power = {
  state(): Promise<'on' | 'off'>;
  on(): Promise<void>;
  /** At once, without a shutdown. */
  off(): Promise<void>;
  /** Off, and on again; a machine that is off is turned on. */
  cycle(): Promise<void>;
};

const times = 3;
/** Real machines take up to 10 s to go off, emulated ones 11. */
const secondsToObey = 30;
/** Between looks. The least that a cycle has to keep a machine off is 1 s (IPMI 2.0, section 28.3), which is not to be missed. */
const pace = { usual: 1, cycle: 0.25 };
/** A refusal may be that of a controller which has not ended something else. */
const secondsAfterRefusal = 5;
/** Until the power supply's capacitors are empty; some BMCs also lose what they are told right after. */
const secondsOff = 5;

export function switchOf(controller: PowerController, sleep: PowerDeps['sleep']): Power {
  return {
    state: () => settledState(controller, sleep),
    on: () => turn(controller, 'on', sleep),
    off: () => turn(controller, 'off', sleep),
    async cycle() {
      if (await cycledByItself(controller, sleep)) return;
      await turn(controller, 'off', sleep);
      await sleep(secondsOff);
      await turn(controller, 'on', sleep);
    },
  };
}

async function settledState(
  controller: PowerController,
  sleep: PowerDeps['sleep'],
): Promise<'on' | 'off'> {
  const seen = await watch(controller, (state) => state !== 'changing', secondsToObey, sleep);
  if (seen !== 'changing') return seen;
  throw new PowerError(
    `${controller.label} says for ${secondsToObey} s that the machine is on its way on or off; check ${controller.check}.`,
  );
}

/** Always tells, whatever the state was before: it may lag behind, or be about to change. */
async function turn(
  controller: PowerController,
  to: 'on' | 'off',
  sleep: PowerDeps['sleep'],
): Promise<void> {
  let disobedience = '';
  for (let time = 0; time < times; time += 1) {
    const answer = await controller.turn(to);
    const seconds = answer.kind === 'refused' ? secondsAfterRefusal : secondsToObey;
    const seen = await watch(controller, (state) => state === to, seconds, sleep);
    if (seen === to) return;
    disobedience = described(answer, to, seen);
  }
  throw new PowerError(`${controller.label} ${disobedience}; check ${controller.check}.`);
}

function described(answer: PowerReply, to: 'on' | 'off', seen: PowerReading): string {
  if (answer.kind === 'refused') return `refuses to turn the machine ${to}: ${answer.why}`;
  return `took the order to turn the machine ${to} ${times} times, but still says ${secondsToObey} s after the last that it is ${seen}`;
}

/** The controller's own cycle leaves the machine on even where we end halfway. It counts where it was seen. */
async function cycledByItself(
  controller: PowerController,
  sleep: PowerDeps['sleep'],
): Promise<boolean> {
  if (controller.cycle === undefined || (await controller.state()) !== 'on') return false;

  const answer = await controller.cycle();
  if (answer.kind === 'refused') return false;

  const leftOn = (state: PowerReading) => state !== 'on';
  const seenOff = () => watch(controller, leftOn, secondsToObey, sleep, pace.cycle);
  if (answer.kind === 'taken' && !leftOn(await seenOff())) return false;
  return (await watch(controller, (state) => state === 'on', secondsToObey, sleep)) === 'on';
}

/** The first state that is as wanted, or else the last of so many seconds. */
async function watch(
  controller: PowerController,
  isWanted: (state: PowerReading) => boolean,
  seconds: number,
  sleep: PowerDeps['sleep'],
  secondsBetween = pace.usual,
): Promise<PowerReading> {
  let state = await controller.state();
  for (let waited = 0; waited < seconds && !isWanted(state); waited += secondsBetween) {
    await sleep(secondsBetween);
    state = await controller.state();
  }
  return state;
}
