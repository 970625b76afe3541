// A Linux router as the DUT: its variants are rulesets and settings, installed while packets flow.
import { PassThrough } from 'node:stream';
import type { Overlay } from '../../kernel/overlay.ts';
import type { PrepareOutcome } from '../../model/rejection.ts';
import type { LinuxScenario } from '../../model/scenario.ts';
import { pathName } from '../../model/variant-name.ts';
import type { CommandOutcome } from '../../system/host/execute.ts';
import type { Host } from '../../system/host/ssh.ts';
import { shell } from '../../system/shell.ts';
import { printingCommand, type SamplingRequest, samplingCommand } from './linux-profile.ts';
import { loadRefusal } from './linux-refusal.ts';
import {
  type LinuxObservation,
  type LinuxSample,
  linuxDutScript,
  type ObserveRequest,
  observeCommand,
  parseObservation,
  samplesAsTheyCome,
} from './linux-script.ts';
import { whyUnsafe } from './nft-tokens.ts';
import { scenarioRules } from './nftables-scenario.ts';
import { formatSettings, parseSysctl, readSettings, type Settings } from './sysctl.ts';

const folder = '/run/ppsgate/dut';
const script = `${folder}/dut.bash`;

export type LinuxDut = {
  /** Uploads every variant, and installs each once for each scenario, so that faults show before the trials. */
  prepare(
    overlays: readonly Overlay[],
    scenarios: readonly LinuxScenario[],
  ): Promise<PrepareOutcome>;
  install(variant: string, scenario: LinuxScenario): Promise<PrepareOutcome>;
  /** Installs and samples one run after the other; returns log and numbers. `isEnough` ends a live run early. */
  observe(
    request: Omit<ObserveRequest, 'script' | 'live'>,
    options: {
      timeoutSeconds: number;
      signal?: AbortSignal;
      isEnough?: ((samples: readonly LinuxSample[]) => boolean) | undefined;
    },
  ): Promise<{ log: string; observation: LinuxObservation }>;
  sample(
    request: Omit<SamplingRequest, 'script'>,
    limits: { timeoutSeconds: number; signal?: AbortSignal },
  ): Promise<CommandOutcome>;
  printSamples(): Promise<string>;
  fingerprint(): Promise<Record<string, string>>;
  /** Restores the state before `prepare`, and removes all that is ours; does nothing a second time. */
  restore(): Promise<void>;
};

export function linuxDut(host: Host): LinuxDut {
  return {
    async prepare(overlays, scenarios) {
      await restore(host);
      await install(host);
      const variants = overlays.map(loadable);
      const refused = variants.find((overlay) => overlay.kind === 'refused');
      if (refused?.kind === 'refused') {
        const { variant, message } = refused;
        return doesNotLoad(variant, scenarios[0] ?? 'forwarding', message);
      }
      const read = variants.filter((overlay) => overlay.kind === 'loadable');
      const before = await remember(
        host,
        new Set(read.flatMap(({ sysctl }) => [...sysctl.keys()])),
      );
      for (const overlay of read) await upload(host, overlay, before, scenarios);
      return prove(host, read, scenarios);
    },

    install: (variant, scenario) => installVariant(host, variant, scenario),

    async observe(request, { isEnough, ...limits }) {
      const stdin = new PassThrough();
      const samplesWith = samplesAsTheyCome();
      let log = '';
      let asked = 0;
      const onStdout = (chunk: Uint8Array) => {
        if (log.length > mostLogCharacters) return;
        const piece = Buffer.from(chunk).toString();
        log += piece;
        if (isEnough === undefined) return;
        const samples = samplesWith(piece);
        // A DUT may print more than requested, and in smaller pieces.
        if (samples.length === asked || samples.length > request.slices) return;
        asked = samples.length;
        if (isEnough(samples)) stdin.write('\n');
      };
      const variants = request.variants.map(pathName);
      const live = isEnough !== undefined;
      const command = observeCommand({ ...request, variants, script, live });
      const outcome = await host.run(command, { ...limits, stdin, onStdout });
      stdin.end();
      if (log.length > mostLogCharacters) {
        const reason = `the DUT wrote more than ${mostLogCharacters} characters where it was to sample`;
        return { log, observation: { kind: 'failed', reason } };
      }
      const observation: LinuxObservation =
        outcome.kind === 'exited' && outcome.code === 0
          ? parseObservation(log)
          : { kind: 'failed', reason: outcome.stderr.trim() || 'the DUT’s sampler was ended' };
      return { log, observation };
    },

    async sample(request, limits) {
      const stdin = new PassThrough();
      const variant = pathName(request.variant);
      try {
        return await host.run(samplingCommand({ ...request, variant, script }), {
          ...limits,
          stdin,
        });
      } finally {
        stdin.end();
      }
    },

    async printSamples() {
      const text = await host.output(printingCommand(folder), { maxOutputBytes: mostProfileBytes });
      await host.output(shell`rm -f ${`${folder}/perf.data`}`);
      return text;
    },

    fingerprint: () => fingerprint(host),

    restore: () => restore(host),
  };
}

/** A line has about 80, and a trial at most tens of thousands of lines. */
const mostLogCharacters = 16 * 1024 ** 2;

/** More than ten times the size of the wanted samples. */
const mostProfileBytes = 256 * 1024 ** 2;

async function install(host: Host): Promise<void> {
  await host.output(shell`mkdir -p ${folder}`);
  await host.upload(linuxDutScript, script, 0o755);
}

/** Uploads the script again, as it also restores after an earlier experiment. */
async function restore(host: Host): Promise<void> {
  await install(host);
  await host.output(shell`bash ${script} restore`);
  await host.output(shell`rm -rf ${folder} ${`${folder}.lock`}`);
}

type LoadableOverlay = { variant: string; sysctl: Settings; nftables: string };
type RefusedOverlay = { kind: 'refused'; variant: string; message: string };

/** Reads the files that a Linux DUT loads; any other file of an overlay would be ignored, and so measured wrongly. */
function loadable(overlay: Overlay): ({ kind: 'loadable' } & LoadableOverlay) | RefusedOverlay {
  const { variant, files } = overlay;
  const refused = (message: string): RefusedOverlay => ({ kind: 'refused', variant, message });
  const stranger = files.find((file) => file.mode !== '100644' || !loadedFiles.has(file.path));
  if (stranger !== undefined) {
    const names = [...loadedFiles].join(' and ');
    return refused(
      `${stranger.path} is nothing that a Linux DUT loads: an overlay holds ${names}, as plain files.`,
    );
  }
  const content = (path: string) => files.find((file) => file.path === path)?.content ?? '';
  const sysctl = parseSysctl(content('sysctl.conf'), 'sysctl.conf');
  if (sysctl.kind === 'refused') return refused(sysctl.message);
  // nft reads a comment only up to a line break.
  const nftables = `${content('nftables.conf')}\n`;
  const unsafe = whyUnsafe(nftables, 'nftables.conf');
  if (unsafe !== undefined) return refused(unsafe);
  return { kind: 'loadable', variant, sysctl: sysctl.settings, nftables };
}

const loadedFiles = new Set(['sysctl.conf', 'nftables.conf']);

/** The DUT's own values of the settings that any variant changes: the other variants need them, too. */
async function remember(host: Host, paths: ReadonlySet<string>): Promise<Settings> {
  await host.output(shell`bash ${script} remember`, { stdin: [...paths, ''].join('\n') });
  return readSettings(await host.output(shell`cat ${`${folder}/before/sysctl.conf`}`));
}

async function upload(
  host: Host,
  { variant, sysctl, nftables }: LoadableOverlay,
  before: Settings,
  scenarios: readonly LinuxScenario[],
): Promise<void> {
  const target = folderOf(variant);
  // Includes settings of other variants, which would otherwise stay when this one is installed.
  const ofOthers = [...before].filter(([path]) => !sysctl.has(path));
  await host.output(shell`mkdir -p ${target}`);
  const files = new Map([
    ['sysctl.conf', formatSettings(new Map([...ofOthers, ...sysctl]))],
    ['nftables.conf', nftables],
    ...scenarios.map((scenario) => [`${scenario}.nft`, ruleset(target, scenario)] as const),
  ]);
  await Promise.all(
    [...files].map(([name, text]) => host.upload(Buffer.from(text), `${target}/${name}`, 0o600)),
  );
}

const folderOf = (variant: string): string => `${folder}/${pathName(variant)}`;

const ruleset = (target: string, scenario: LinuxScenario): string =>
  `flush ruleset\ninclude "${target}/nftables.conf"\n${scenarioRules(scenario)}`;

async function prove(
  host: Host,
  variants: readonly LoadableOverlay[],
  scenarios: readonly LinuxScenario[],
): Promise<PrepareOutcome> {
  for (const { variant, nftables } of variants) {
    for (const scenario of scenarios) {
      const installed = await installVariant(host, variant, scenario, nftables);
      if (installed.kind === 'rejected') return installed;
    }
  }
  return { kind: 'ready' };
}

/** `nftables` are the variant's own rules, which a refusal quotes. */
async function installVariant(
  host: Host,
  variant: string,
  scenario: LinuxScenario,
  nftables = '',
): Promise<PrepareOutcome> {
  const target = folderOf(variant);
  const outcome = await host.run(
    shell`timeout --kill-after=5 ${installSeconds} bash ${script} lay ${target} ${scenario}`,
  );
  if (outcome.kind === 'exited' && outcome.code === 0) return { kind: 'ready' };
  const { stderr } = outcome;
  const ending = endingOf(outcome);
  const message = loadRefusal({ folder: target, scenario, nftables, stderr, ending });
  return doesNotLoad(variant, scenario, message);
}

/** Rules may hold a command that never ends, like `monitor`; a set of a million addresses loads in seconds. */
const installSeconds = 120;

function endingOf(outcome: CommandOutcome): string {
  if (outcome.kind === 'signaled') return `was ended by ${outcome.signal}`;
  // See timeout(1).
  return outcome.code === 124
    ? `ran for more than ${installSeconds} s`
    : `exited with ${outcome.code}`;
}

const doesNotLoad = (
  variant: string,
  scenario: LinuxScenario,
  message: string,
): PrepareOutcome => ({
  kind: 'rejected',
  variant,
  rejection: { kind: 'does-not-load', scenario, message },
});

async function fingerprint(host: Host): Promise<Record<string, string>> {
  const [kernel, build, architecture, models, cpus, nftables, ...settings] = await Promise.all([
    host.output(shell`uname -sr`),
    host.output(shell`uname -v`),
    host.output(shell`uname -m`),
    host.output(shell`sed -n 's/^model name[^:]*: //p' /proc/cpuinfo`),
    host.output(shell`nproc`),
    host.output(shell`nft --version`),
    ...recordedSettings.map((key) => host.output(shell`sysctl -n ${key}`)),
  ]);
  return {
    kernel: kernel.trim(),
    build: build.trim(),
    cpu: `${models.split('\n')[0] || architecture.trim()} × ${cpus.trim()}`,
    nftables: nftables.trim(),
    ...Object.fromEntries(
      recordedSettings.map((key, index) => [key, settings[index]?.trim() ?? '']),
    ),
  };
}

const recordedSettings = [
  'net.ipv4.ip_forward',
  'net.ipv6.conf.all.forwarding',
  'net.ipv4.conf.all.send_redirects',
];
