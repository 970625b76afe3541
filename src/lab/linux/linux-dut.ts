// A Linux router as the DUT: its variants are rulesets and settings, installed while packets flow.
import { PassThrough } from 'node:stream';
import type { Overlay } from '../../kernel/overlay.ts';
import { addressText } from '../../model/networks.ts';
import { lastLine } from '../../model/one-line.ts';
import type { PrepareOutcome, Rejected } from '../../model/rejection.ts';
import { families, type LinuxScenario } from '../../model/scenario.ts';
import type { TestNetworks } from '../../model/traffic.ts';
import { UsageError } from '../../model/usage-error.ts';
import { pathName } from '../../model/variant-name.ts';
import type { CommandOutcome } from '../../system/host/execute.ts';
import { HostError } from '../../system/host/host-error.ts';
import type { Host } from '../../system/host/ssh.ts';
import { shell } from '../../system/shell.ts';
import type { Ports } from '../map-interfaces.ts';
import { ipAddress } from '../traffic/flows.ts';
import {
  createInterfaces,
  doesNotLoad,
  folder,
  folderOf,
  installCounting,
  installVariant,
  type LinuxCounting,
  refusalOf,
  script,
  withoutMissing,
} from './linux-install.ts';
import { findLeftovers, type Leftover } from './linux-leftovers.ts';
import { droppedBy, limitsInLinuxLog } from './linux-limits.ts';
import { findInertChanges, ignoredParts, type LoadableOverlay, loadable, type SettingsOfDut } from './linux-overlay.ts';
import { refusedSetting } from './linux-refusal.ts';
import {
  type LinuxObservation,
  type LinuxSample,
  linuxDutScript,
  type ObserveRequest,
  observeCommand,
  parseObservation,
  printingCommand,
  type SamplingRequest,
  samplesAsTheyCome,
  samplingCommand,
} from './linux-script.ts';
import { formatSettings, readSettings } from './sysctl.ts';

export type LinuxDut = {
  /** Uploads every variant, and installs each once for each scenario, so that faults show before the trials. */
  prepare(
    overlays: readonly Overlay[],
    scenarios: readonly LinuxScenario[],
  ): Promise<{ kind: 'ready'; warnings: string[] } | Rejected>;
  /**
   * Uploads the only variant to a DUT that nothing restores later, and installs it once for each scenario to prove. Runs
   * few programs, as each takes a guest about a tenth of a second.
   */
  prepareToDiscard(
    overlay: Overlay,
    scenarios: readonly LinuxScenario[],
    toProve: readonly LinuxScenario[],
  ): Promise<PrepareOutcome>;
  install(variant: string, scenario: LinuxScenario): Promise<PrepareOutcome>;
  /** Likewise, before packets, and counts them; throws a HostError. */
  installCounting(variant: string, scenario: LinuxScenario): Promise<LinuxCounting | Rejected>;
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
  /**
   * Traces arriving packets for four times `seconds`, as nft(8) needs time to start. Returns a phrase that continues
   * "dropped by", if the cause is known.
   */
  droppedBy(seconds: number): Promise<string | undefined>;
  fingerprint(): Promise<Record<string, string>>;
  /** Finds filters that stay in force in addition to every variant's rules; `interfaces` are those that forward. */
  leftovers(interfaces: readonly string[]): Promise<Leftover[]>;
  /** Restores the state before `prepare`, and removes our files; has no effect a second time. */
  restore(): Promise<void>;
};

/** `ports` are the interfaces that forward, and `addresses` the networks of test packets. */
export function linuxDut(host: Host, ports: Ports, addresses: TestNetworks = {}): LinuxDut {
  return {
    async prepare(overlays, scenarios) {
      await restore(host);
      await install(host);
      await addRoutes(host, addresses);
      const scenario = scenarios[0] ?? 'forwarding';
      const variants = overlays.map((overlay) => loadable(overlay, ports));
      const refused = variants.find((overlay) => overlay.kind === 'refused');
      if (refused?.kind === 'refused') {
        return doesNotLoad(refused.variant, scenario, refused.message);
      }
      const { read, warnings } = await withoutMissing(
        host,
        variants.filter((overlay) => overlay.kind === 'loadable'),
      );
      const remembered = await remember(host, read, scenario);
      if (remembered.kind === 'rejected') return remembered;
      const compared = findInertChanges(read, remembered);
      if (compared.kind === 'refused') {
        return doesNotLoad(compared.variant, scenario, compared.message);
      }
      const lacking = await createInterfaces(host, read);
      if (lacking !== undefined) return doesNotLoad(lacking.variant, scenario, lacking.message);
      for (const overlay of read) await upload(host, overlay, scenarios);
      const unsafe = await check(host, read, scenario);
      if (unsafe !== undefined) return unsafe;
      const proved = await prove(host, read, scenarios);
      if (proved.kind === 'rejected') return proved;
      return {
        kind: 'ready',
        warnings: [...ignoredParts(overlays), ...warnings, ...compared.warnings],
      };
    },

    async prepareToDiscard(overlay, scenarios, toProve) {
      const scenario = scenarios[0] ?? 'forwarding';
      const read = loadable(overlay, ports);
      if (read.kind === 'refused') return doesNotLoad(read.variant, scenario, read.message);
      await uploadAtOnce(host, read, scenarios);
      await addRoutes(host, addresses);
      const lacking = await createInterfaces(host, [read]);
      if (lacking !== undefined) return doesNotLoad(lacking.variant, scenario, lacking.message);
      return prove(host, [read], toProve);
    },

    install: (variant, scenario) => installVariant(host, { ...uploaded, variant }, scenario),

    installCounting: (variant, scenario) => installCounting(host, { ...uploaded, variant }, scenario, ports),

    async observe(request, { isEnough, ...limits }) {
      const stdin = new PassThrough();
      const samplesWith = samplesAsTheyCome();
      let log = '';
      let checkedRuns = 0;
      const onStdout = (chunk: Uint8Array) => {
        if (log.length > maxLogCharacters) return;
        const piece = Buffer.from(chunk).toString();
        log += piece;
        if (isEnough === undefined) return;
        const samples = samplesWith(piece);
        // A DUT may print more than requested, and in smaller pieces.
        if (samples.length === checkedRuns || samples.length > request.slices) return;
        checkedRuns = samples.length;
        if (isEnough(samples)) stdin.write('\n');
      };
      const variants = request.variants.map(pathName);
      const live = isEnough !== undefined;
      const command = observeCommand({ ...request, variants, script, live });
      const outcome = await host.run(command, { ...limits, stdin, onStdout });
      stdin.end();
      if (log.length > maxLogCharacters) {
        const reason = `the DUT wrote more than ${maxLogCharacters} characters while sampling`;
        return { log, observation: { kind: 'failed', reason } };
      }
      const observation: LinuxObservation =
        outcome.kind === 'exited' && outcome.code === 0
          ? parseObservation(log)
          : { kind: 'failed', reason: outcome.stderr.trim() || 'the DUT’s sampler ended early' };
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
      const text = await host.output(printingCommand(folder), { maxOutputBytes: maxProfileBytes });
      await host.output(shell`rm -f ${`${folder}/perf.data`}`);
      return text;
    },

    async droppedBy(seconds) {
      const { ingress, egress } = ports;
      const log = await host.output(shell`bash ${script} drops ${ingress} ${egress} ${seconds}`);
      const all = 'all';
      return droppedBy(log, all, limitsInLinuxLog(log, [{ variant: all }])[all]);
    },

    fingerprint: () => fingerprint(host),

    leftovers: (interfaces) => findLeftovers(host, interfaces),

    restore: () => restore(host),
  };
}

/** An overlay that is on the DUT. */
const uploaded: Omit<LoadableOverlay, 'variant'> = {
  sysctl: { settings: new Map(), lines: new Map(), skipped: [] },
  nftables: '',
  unused: [],
};

/** A line has about 80 characters, and a trial at most tens of thousands of lines. */
const maxLogCharacters = 16 * 1024 ** 2;

/** More than ten times the size of the wanted samples. */
const maxProfileBytes = 256 * 1024 ** 2;

async function install(host: Host): Promise<void> {
  await host.output(shell`mkdir -p ${folder}`);
  await host.upload(linuxDutScript, script, 0o755);
}

/** Gives the networks the routes of the usual packets. Throws a UsageError for one that the DUT routes already. */
async function addRoutes(host: Host, addresses: TestNetworks): Promise<void> {
  for (const family of families) {
    for (const side of ['source', 'destination'] as const) {
      const network = addresses[family]?.[side];
      if (network === undefined) continue;
      const like = addressText(ipAddress(family, side, 0), family);
      const outcome = await host.run(shell`bash ${script} routes ${network} ${like}`);
      if (outcome.kind === 'exited' && outcome.code === 0) continue;
      throw new UsageError(
        `traffic.addresses: ${host.name} cannot route ${network}: ${reasonIn(outcome)}. Name another network, or change its routes.`,
      );
    }
  }
}

/** Uploads the script again, as it also restores after an earlier experiment. */
async function restore(host: Host): Promise<void> {
  await install(host);
  await host.output(shell`bash ${script} restore`);
  await host.output(shell`rm -rf ${folder} ${`${folder}.lock`}`);
}

/**
 * Makes the DUT save its rules, and its own values of settings that any variant changes. Throws a HostError if the
 * rules could not be restored.
 */
async function remember(
  host: Host,
  variants: readonly LoadableOverlay[],
  scenario: LinuxScenario,
): Promise<({ kind: 'remembered' } & SettingsOfDut) | Rejected> {
  const paths = new Set(variants.flatMap(({ sysctl }) => [...sysctl.settings.keys()]));
  const outcome = await host.run(shell`bash ${script} remember`, {
    stdin: [...paths, ''].join('\n'),
  });
  if (outcome.kind === 'exited' && outcome.code === 0) {
    const before = readSettings(await host.output(shell`cat ${`${folder}/before/sysctl.conf`}`));
    return { kind: 'remembered', before, fixed: new Set(outcome.stdout.split('\n')) };
  }
  const path = refusedSetting(outcome.stderr)?.path ?? '';
  const variant = variants.find(({ sysctl }) => sysctl.settings.has(path));
  if (variant !== undefined) return refusalOf(variant, scenario, outcome);
  throw new HostError(
    'command-failed',
    `The rules of ${host.name} are left unchanged, because they could not be restored later: ${reasonIn(outcome)}. Remove them, install the program that manages them, stop the program that owns them, or use another machine.`,
  );
}

const reasonIn = ({ stderr }: CommandOutcome): string => lastLine(stderr)?.replace(/^\w+: /, '') ?? 'it said nothing';

/** Refuses settings that change more than can be restored. */
async function check(
  host: Host,
  variants: readonly LoadableOverlay[],
  scenario: LinuxScenario,
): Promise<Rejected | undefined> {
  for (const variant of variants) {
    const outcome = await host.run(shell`bash ${script} check ${folderOf(variant.variant)}`);
    if (outcome.kind === 'signaled' || outcome.code !== 0) {
      return refusalOf(variant, scenario, outcome);
    }
  }
  return undefined;
}

async function upload(host: Host, overlay: LoadableOverlay, scenarios: readonly LinuxScenario[]): Promise<void> {
  await host.output(shell`mkdir -p ${folderOf(overlay.variant)}`);
  await Promise.all(filesOf(overlay, scenarios).map(([path, text]) => host.upload(Buffer.from(text), path, 0o600)));
}

/** Uploads the script, too. No file contains a zero byte; see `whyUnsafe` and `parseSysctl`. */
async function uploadAtOnce(host: Host, overlay: LoadableOverlay, scenarios: readonly LinuxScenario[]): Promise<void> {
  const files = [[script, linuxDutScript.toString()], ...filesOf(overlay, scenarios)];
  const stdin = files.flat().join('\0');
  await host.output(shell`bash -c ${unpackFiles} bash ${folderOf(overlay.variant)}`, { stdin });
}

/** Bash would read a pipe by the byte, and reads a file in blocks. */
const unpackFiles = `umask 077
mkdir -p "$1" && cat >"$1/files" && mapfile -d '' -t words <"$1/files" && rm "$1/files" || exit
for ((at = 0; at < \${#words[@]}; at += 2)); do
  printf %s "\${words[at + 1]}" >"\${words[at]}" || exit
done`;

function filesOf(
  { variant, sysctl, nftables }: LoadableOverlay,
  scenarios: readonly LinuxScenario[],
): (readonly [path: string, text: string])[] {
  const target = folderOf(variant);
  return [
    [`${target}/sysctl.conf`, formatSettings(sysctl.settings)],
    [`${target}/nftables.conf`, nftables],
    ...scenarios.map((scenario) => [`${target}/${scenario}.nft`, ruleset(target, scenario)] as const),
  ];
}

const ruleset = (target: string, scenario: LinuxScenario): string =>
  `flush ruleset\ninclude "${target}/nftables.conf"\n${scenarioRules(scenario)}`;

/** A separate table with one accepting rule, like the single `pass` of the FreeBSD scenarios. */
function scenarioRules(scenario: LinuxScenario): string {
  switch (scenario) {
    case 'forwarding':
      return '';
    case 'nftables-stateless':
      return forwardChain(['meta l4proto udp accept']);
    case 'nftables-stateful':
      return forwardChain(['ct state established,related accept', 'ct state new accept']);
  }
}

const forwardChain = (rules: string[]): string => `table inet ppsgate {
  chain forward {
    type filter hook forward priority filter; policy drop;
${rules.map((rule) => `    ${rule}`).join('\n')}
  }
}
`;

async function prove(
  host: Host,
  variants: readonly LoadableOverlay[],
  scenarios: readonly LinuxScenario[],
): Promise<PrepareOutcome> {
  for (const overlay of variants) {
    for (const scenario of scenarios) {
      const installed = await installVariant(host, overlay, scenario);
      if (installed.kind === 'rejected') return installed;
    }
  }
  return { kind: 'ready' };
}

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
    ...Object.fromEntries(recordedSettings.map((key, index) => [key, settings[index]?.trim() ?? ''])),
  };
}

const recordedSettings = ['net.ipv4.ip_forward', 'net.ipv6.conf.all.forwarding', 'net.ipv4.conf.all.send_redirects'];
