// Separates samples of idle processors from those of work.
import { type Frame, type Profile, remembered, type Stack, samplesOf } from './profile.ts';

/** Idle loops of FreeBSD (kern/sched_*.c, cpu_idle) and Linux (kernel/sched/idle.c, drivers/cpuidle, arch_cpu_idle). */
const idleLoops: ReadonlySet<string> = new Set([
  // FreeBSD
  'sched_idletd',
  'cpu_idle',
  'cpu_idle_acpi',
  'cpu_idle_hlt',
  'cpu_idle_mwait',
  'cpu_idle_spin',
  'cpu_idle_default',
  'cpu_idle_60x',
  'cpu_idle_booke',
  'cpu_idle_e500mc',
  'cpu_idle_powerx',
  'cpu_idle_power9',
  'powernv_cpu_idle',
  'phyp_cpu_idle',
  'ps3_cpu_idle',
  'cpu_idleclock',
  'cpu_activeclock',
  'acpi_cpu_idle',
  'acpi_cpu_idle_mwait',
  'acpi_cpu_c1',
  // Linux
  'do_idle',
  'cpu_idle_loop',
  'cpu_idle_poll',
  'cpu_startup_entry',
  'cpuidle_idle_call',
  'call_cpuidle',
  'cpuidle_enter',
  'cpuidle_enter_state',
  'cpuidle_enter_s2idle',
  'arch_cpu_idle',
  'default_idle',
  'default_idle_call',
  'default_enter_idle',
  'poll_idle',
  'mwait_idle',
  'amd_e400_idle',
  'intel_idle',
  'intel_idle_ibrs',
  'intel_idle_irq',
  'intel_idle_xstate',
  'intel_idle_hlt',
  'intel_idle_s2idle',
  'acpi_idle_enter',
  'acpi_idle_enter_bm',
  'acpi_idle_enter_s2idle',
  'acpi_idle_enter_simple',
  'acpi_idle_do_entry',
  'acpi_safe_halt',
  'cpu_do_idle',
  'arm_cpuidle_suspend',
  'psci_enter_idle_state',
  'psci_cpu_suspend_enter',
  'sbi_cpuidle_enter_state',
  'snooze_loop',
  'shared_cede_loop',
  'dedicated_cede_loop',
  'nap_loop',
  'stop_loop',
]);

/**
 * Instructions that stop a processor until an interrupt. Virtual ones also wait for locks this way, which counts as
 * work.
 */
const halts: ReadonlySet<string> = new Set([
  'safe_halt',
  'native_halt',
  'native_safe_halt',
  'pv_native_safe_halt',
  'xen_safe_halt',
  'xen_hypercall_sched_op',
  'tdx_safe_halt',
  'mwait_idle_with_hints',
]);

/** Loops that also call other work. All other loops call only a driver of idling, or an interrupt. */
const mixedLoops: ReadonlySet<string> = new Set([
  'sched_idletd',
  'do_idle',
  'cpu_idle_loop',
  'cpu_startup_entry',
  'cpuidle_idle_call',
]);

/** Preparations of idling: its tick, its governor, its accounting. */
const preparation =
  /^(?:cpuidle_|tick_nohz_|tick_check_broadcast|tick_broadcast_|rcu_idle_|ct_idle_|ct_cpuidle_|menu_|teo_|ladder_|haltpoll_|arch_cpu_idle_|sched_idle_set_state|quiet_vmstat)/;

/** Functions that end idling: entries of interrupts and exceptions (arch/*, sys/*), and clocks. */
const interruption = new RegExp(
  [
    'irq|IRQ|interrupt|softirq|exception',
    '^(?:asm|exc|sysvec|smp|nmi|gic|lapic|intr|handle|trap|vector)_',
    '^(?:ret_from_|do_page_fault|page_fault|error_entry|nmi|end_repeat_nmi|trap$|calltrap|alltraps|handle_|el[01]h?_|el[01]t_)',
    '^(?:io|ext|mcck)_int_handler|_upcall$|_callback(?:_vector)?$|_common(?:_virt)?$',
    '^X[a-z]',
    '^(?:handleevents|hardclock|statclock|timercb)',
    '^(?:net_rx_action|napi_|__napi_|netif_|__netif_|process_backlog|schedule|__schedule|preempt_schedule)',
    String.raw`^\[?unknown\]?$`,
  ].join('|'),
);

/** Functions that switch the processor's own interrupts on and off, and the state in which they end idling. */
const notInterruption = /idle|local_irq|irq_(?:enable|disable|save|restore)$/;

/**
 * Removes idle stacks; returns also their number of samples, and the idle frames found, in order. A stack is idle if its
 * innermost idle loop was not interrupted: of the frames above it none is the entry of an interrupt or other work.
 */
export function withoutIdle(profile: Profile): {
  profile: Profile;
  idleSamples: number;
  idleFrames: string[];
} {
  const kindOf = remembered(({ name }: Frame) => kindOfName(bareName(name)));
  const idle: Stack[] = [];
  const working: Stack[] = [];
  for (const stack of profile.stacks) (idles(stack.frames, kindOf) ? idle : working).push(stack);
  const distinctive = idle.flatMap(({ frames }) => frames.filter((frame) => isDistinctive(kindOf(frame))));
  return {
    profile: { ...profile, stacks: working },
    idleSamples: samplesOf(idle),
    idleFrames: [...new Set(distinctive.map(({ name }) => bareName(name)))],
  };
}

type Kind = 'loop' | 'mixed-loop' | 'halt' | 'preparation' | 'interruption' | 'named-idle' | 'other';

const isDistinctive = (kind: Kind): boolean => kind === 'loop' || kind === 'mixed-loop' || kind === 'halt';

function idles(frames: readonly Frame[], kindOf: (frame: Frame) => Kind): boolean {
  let halts = true;
  let called: Kind = 'halt';
  for (let at = frames.length - 1; at >= 0; at -= 1) {
    const kind = kindOf(frames[at] as Frame);
    if (kind === 'interruption') return false;
    if (kind === 'loop') return true;
    if (kind === 'mixed-loop') return halts || called === 'preparation' || called === 'named-idle';
    halts &&= kind === 'halt';
    called = kind;
  }
  if (halts) return true;
  // Without call chains there is only Linux's idle process and its current function.
  const isInIdleProcess = frames.length > 1 && /^swapper(\/\d+)?$/.test(frames[0]?.name ?? '');
  if (!isInIdleProcess) return false;
  return frames.slice(1).every((frame) => ['halt', 'named-idle'].includes(kindOf(frame)));
}

function kindOfName(name: string): Kind {
  if (mixedLoops.has(name)) return 'mixed-loop';
  if (idleLoops.has(name)) return 'loop';
  if (halts.has(name)) return 'halt';
  if (/^schedule_idle$|newidle|idle_balance/.test(name)) return 'interruption';
  if (preparation.test(name)) return 'preparation';
  if (interruption.test(name) && !notInterruption.test(name)) return 'interruption';
  return idleName.test(name) ? 'named-idle' : 'other';
}

/** Usual names of idle drivers, trusted only in the idle process: programs have idle functions, too. */
const idleName = /idle|cstate|mwait|halt(?:$|_)|_hlt$|cpu_suspend|_cede|snooze|(?:^|_)wf[ie](?:$|_)/;

/** Strips the additions of compilers (`.constprop.0`), collapsers (`_[k]`) and --modules (``kernel` ``). */
const bareName = (name: string): string =>
  name
    .replace(/^.*`/, '')
    .replace(/_\[[a-z]\]$/, '')
    .replace(/\.(?:constprop|isra|part|cold|lto_priv|llvm)\..*$/s, '');
