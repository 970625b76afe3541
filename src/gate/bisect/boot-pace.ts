// Tracks how many minutes boots and builds of a bisection need.
import { median } from '../../analysis/stats/summary.ts';
import type { Testbed } from '../../lab/testbed.ts';
import { usualMinutes } from '../estimate/bisection.ts';
import type { BuildCosts } from './next-boot.ts';

export class BootPace implements BuildCosts {
  readonly #testbed: Testbed;
  readonly #runs: number[] = [];
  readonly #waits: number[] = [];

  constructor(testbed: Testbed) {
    this.#testbed = testbed;
  }

  /** Never 0, as information is divided by it. */
  get runMinutes(): number {
    return this.#runs.length === 0 ? usualMinutes.run : Math.max(median(this.#runs), 0.01);
  }

  get buildMinutes(): number {
    return this.#waits.length === 0 ? usualMinutes.build : median(this.#waits);
  }

  readonly isReady = (variant: string): boolean => this.#testbed.ready().has(variant);

  /** `wasReady`: the boot did not wait for a build. */
  add(minutes: number, wasReady: boolean): void {
    if (wasReady) this.#runs.push(minutes);
    else this.#waits.push(Math.max(0, minutes - this.runMinutes));
  }
}
