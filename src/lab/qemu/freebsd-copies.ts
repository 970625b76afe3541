// Boots copies of a FreeBSD image in parallel, one for each variant, and replaces copies that have ended.
import type { FreebsdGuestsConfig, GuestImage } from '../../config/virtual-testbed.ts';
import type { Fingerprint } from '../../model/freebsd-machine.ts';
import type { Family } from '../../model/scenario.ts';
import type { ConsoleRecorder } from '../console/recorder.ts';
import { type Boots, fingerprintOfDut, inspectDut } from '../freebsd/boots.ts';
import type { FreebsdDut } from '../freebsd/dut/freebsd-dut.ts';
import type { SettingProblem } from '../freebsd/dut/setting.ts';
import { openImage } from './freebsd-image.ts';
import type { GuestResources } from './guests.ts';
import type { Guest } from './vm/guest.ts';

export type ImageGuest = {
  number: number;
  guest: Guest;
  dut: FreebsdDut;
  boots: Boots;
  console: ConsoleRecorder;
  /** Settings that fail on the image's own kernel. */
  problems: readonly SettingProblem[];
  /** Facts of the machine, without those of the image's own kernel. */
  fingerprint: Fingerprint;
  /** QEMU's last line of output, once it has ended. */
  lastLine: () => string | undefined;
};

export type CopiedImage = { image: GuestImage; accelerator: FreebsdGuestsConfig['accelerator'] };

export class ImageCopies {
  readonly #config: CopiedImage;
  readonly #resources: GuestResources;
  readonly #assigned = new Map<string, ImageGuest>();
  /** Copies that are booting or up, not yet assigned to a variant. */
  readonly #spares: Promise<ImageGuest>[] = [];
  /** By number; undefined until QEMU has started. */
  readonly #guests = new Map<number, Guest | undefined>();
  #isFit = false;
  #isClosed = false;
  families: readonly Family[] = ['inet4'];

  constructor(config: CopiedImage, resources: GuestResources) {
    this.#config = config;
    this.#resources = resources;
  }

  /** True once a copy of the image was up. */
  get isFit(): boolean {
    return this.#isFit;
  }

  /** Starts to boot this many copies, including existing ones, without waiting for them. */
  begin(count: number): void {
    while (this.#assigned.size + this.#spares.length < count) this.#spares.push(this.#boot());
  }

  /** Waits for the first copy that is up; throws one copy's error if all have failed. */
  async first(): Promise<ImageGuest> {
    const [assigned] = this.#assigned.values();
    if (assigned !== undefined) return assigned;
    this.begin(1);
    try {
      return await Promise.any(this.#spares);
    } catch (error) {
      this.#spares.length = 0;
      throw error instanceof AggregateError ? error.errors[0] : error;
    }
  }

  get(variant: string): ImageGuest | undefined {
    return this.#assigned.get(variant);
  }

  async guestFor(variant: string): Promise<ImageGuest> {
    const own = this.#assigned.get(variant);
    if (own !== undefined && own.lastLine() === undefined) return own;
    await this.stop(variant);
    const copy = await (this.#spares.shift() ?? this.#boot());
    this.#assigned.set(variant, copy);
    return copy.lastLine() === undefined ? copy : await this.guestFor(variant);
  }

  cpuOf(number: number): number {
    const { cpus } = this.#resources;
    return cpus[(number - 1) % cpus.length] ?? 0;
  }

  async stop(variant: string): Promise<void> {
    const copy = this.#assigned.get(variant);
    this.#assigned.delete(variant);
    if (copy !== undefined) await this.#switchOff(copy);
  }

  async stopOthers(variants: ReadonlySet<string>): Promise<void> {
    for (const variant of this.#assigned.keys()) {
      if (!variants.has(variant)) await this.stop(variant);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.stopOthers(new Set());
    // Ends the wait for copies that are still booting.
    for (const guest of this.#guests.values()) await guest?.stop();
    for (const spare of await Promise.allSettled(this.#spares.splice(0))) {
      if (spare.status === 'fulfilled') await this.#switchOff(spare.value);
    }
  }

  #boot(): Promise<ImageGuest> {
    const booting = this.#bootImage();
    // Waiting callers get the error; without any, it must not become an unhandled rejection.
    booting.catch(() => {});
    return booting;
  }

  async #bootImage(): Promise<ImageGuest> {
    const { lab } = this.#resources;
    let number = 1;
    while (this.#guests.has(number)) number += 1;
    this.#guests.set(number, undefined);
    await using opened = new AsyncDisposableStack();
    opened.defer(() => void this.#guests.delete(number));
    const guest = await lab.bootImage(number, this.#config.image, this.cpuOf(number));
    opened.defer(() => guest.stop());
    if (this.#isClosed) throw new Error('The testbed is released.');
    this.#guests.set(number, guest);
    let lastLine: string | undefined;
    void guest.ended.then((line) => {
      lastLine = line;
    });
    const { dut, boots, console } = await openImage(guest, this.#config, this.#resources);
    opened.defer(async () => {
      await dut.host().close();
      await console.close();
    });
    const problems = await inspectDut(boots, this.families);
    const fingerprint = await fingerprintOfDut(boots);
    this.#isFit = true;
    opened.move();
    return {
      number,
      guest,
      dut,
      boots,
      console,
      problems,
      fingerprint,
      lastLine: () => lastLine,
    };
  }

  async #switchOff({ number, guest, dut, console }: ImageGuest): Promise<void> {
    await dut
      .host()
      .close()
      .catch(() => {});
    await guest.stop();
    await console.close();
    this.#guests.delete(number);
  }
}
