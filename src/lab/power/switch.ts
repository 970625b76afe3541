// Switches a machine's power through a controller. Trusts the state that it reads, not the reply, and retries.
import { type PowerController, PowerError, type PowerReading } from './power-controller.ts';
import type { PowerDeps } from './power-deps.ts';

/** Each method returns when the controller reports the new state. Throws a PowerError after some minutes without it. */
export type Power = {
  state(): Promise<'on' | 'off'>;
  on(): Promise<void>;
  /** Without an orderly shutdown. */
  off(): Promise<void>;
  /** Turns a machine off and on again; one that is off is turned on. */
  cycle(): Promise<void>;
};

const attempts = 3;
/** Real machines need up to 10 s to turn off, emulated ones 11. */
const secondsToObey = 30;
/** Seconds between polls. A cycle may keep a machine off for only 1 s (IPMI 2.0, section 28.3). */
const pollSeconds = { usual: 1, cycle: 0.25 };
/** A controller may refuse an order while it carries out another. */
const secondsAfterRefusal = 5;
/** Empties the power supply's capacitors. Some BMCs also lose an order that follows at once. */
const secondsOff = 5;

export function switchOf(controller: PowerController, sleep: PowerDeps['sleep']): Power {
  return {
    async state() {
      const seen = await watch(controller, (state) => state !== 'changing', secondsToObey, sleep);
      if (seen !== 'changing') return seen;
      throw new PowerError(
        `${controller.label} has reported for ${secondsToObey} s that the machine is turning on or off; check ${controller.check}.`,
      );
    },
    on: () => turn(controller, 'on', sleep),
    off: () => turn(controller, 'off', sleep),
    async cycle() {
      if (await cycledByController(controller, sleep)) return;
      await turn(controller, 'off', sleep);
      await sleep(secondsOff);
      await turn(controller, 'on', sleep);
    },
  };
}

/** Sends the order in any state, as the reported one may lag behind, or be about to change. */
async function turn(controller: PowerController, to: 'on' | 'off', sleep: PowerDeps['sleep']): Promise<void> {
  let disobedience = '';
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const reply = await controller.turn(to);
    const seconds = reply.kind === 'refused' ? secondsAfterRefusal : secondsToObey;
    const seen = await watch(controller, (state) => state === to, seconds, sleep);
    if (seen === to) return;
    disobedience =
      reply.kind === 'refused'
        ? `refuses to turn the machine ${to}: ${reply.why}`
        : `accepted the command to turn the machine ${to} ${attempts} times, but ${secondsToObey} s after the last one still reports that it is ${seen}`;
  }
  throw new PowerError(`${controller.label} ${disobedience}; check ${controller.check}.`);
}

/**
 * Prefers the controller's own cycle, which leaves the machine on even if this process dies. It counts once the machine
 * was seen off.
 */
async function cycledByController(controller: PowerController, sleep: PowerDeps['sleep']): Promise<boolean> {
  if (controller.cycle === undefined || (await controller.state()) !== 'on') return false;

  const reply = await controller.cycle();
  if (reply.kind === 'refused') return false;

  const isOff = (state: PowerReading) => state !== 'on';
  const seenOff = () => watch(controller, isOff, secondsToObey, sleep, pollSeconds.cycle);
  if (reply.kind === 'accepted' && !isOff(await seenOff())) return false;
  return (await watch(controller, (state) => state === 'on', secondsToObey, sleep)) === 'on';
}

async function watch(
  controller: PowerController,
  matches: (state: PowerReading) => boolean,
  seconds: number,
  sleep: PowerDeps['sleep'],
  secondsBetween = pollSeconds.usual,
): Promise<PowerReading> {
  let state = await controller.state();
  for (let waited = 0; waited < seconds && !matches(state); waited += secondsBetween) {
    await sleep(secondsBetween);
    state = await controller.state();
  }
  return state;
}
