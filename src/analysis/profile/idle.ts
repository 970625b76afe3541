// Separates samples of idle processors from those of work.
import { type Frame, type Profile, type Stack, samplesOf } from './profile.ts';

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

/** Instructions that stop a processor until an interrupt; virtual ones also wait for locks this way, which is work. */
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

/**
 * Removes idle stacks; returns also their number of samples, and the idle frames found, in order. A stack is idle if
 * the sampled function is an idle loop, or halts for one: any other frame above an idle loop is the work of an
 * interrupt.
 */
export function withoutIdle(profile: Profile): {
  profile: Profile;
  idleSamples: number;
  idleFrames: string[];
} {
  const kindOf = kinds();
  const isIdle = ({ frames }: Stack) => idles(frames, kindOf);
  const idle = profile.stacks.filter(isIdle);
  const told = idle.flatMap(({ frames }) => frames.filter((frame) => kindOf(frame) !== 'other'));
  return {
    profile: { ...profile, stacks: profile.stacks.filter((stack) => !isIdle(stack)) },
    idleSamples: samplesOf(idle),
    idleFrames: [...new Set(told.map(({ name }) => bareName(name)))],
  };
}

type Kind = 'loop' | 'halt' | 'other';

function idles(frames: readonly Frame[], kindOf: (frame: Frame) => Kind): boolean {
  const halting = frames.findLastIndex((frame) => kindOf(frame) !== 'halt');
  const caller = frames[halting];
  if (caller === undefined || kindOf(caller) === 'loop') return true;
  // Without call chains there is only Linux's idle process and its current function.
  return halting === 0 && frames.length > 1 && /^swapper(\/\d+)?$/.test(caller.name);
}

function kinds(): (frame: Frame) => Kind {
  const known = new Map<Frame, Kind>();
  return (frame) => {
    const kind = known.get(frame) ?? kindOfName(bareName(frame.name));
    known.set(frame, kind);
    return kind;
  };
}

function kindOfName(name: string): Kind {
  if (idleLoops.has(name)) return 'loop';
  return halts.has(name) ? 'halt' : 'other';
}

/** Strips the additions of compilers (`.constprop.0`), collapsers (`_[k]`) and --modules (``kernel` ``). */
const bareName = (name: string): string =>
  name
    .replace(/^.*`/, '')
    .replace(/_\[[a-z]\]$/, '')
    .replace(/\.(?:constprop|isra|part|cold|lto_priv|llvm)\..*$/s, '');
