// Idle processors: which stacks are theirs, and which only stand on top of them.
import { describe, expect, test } from 'vitest';
import { withoutIdle } from '../../../src/analysis/profile/idle.ts';
import { parseProfile } from '../../../src/analysis/profile/read-profile.ts';

const linux = 'swapper;start_secondary;cpu_startup_entry;do_idle';
const freebsd = 'fork_exit;sched_idletd;cpu_idle';

describe('idle', () => {
  test.each([
    `${freebsd};cpu_idle_acpi;acpi_cpu_idle;acpi_cpu_c1`,
    `${freebsd};cpu_idle_mwait`,
    'fork_exit;sched_idletd',
    'acpi_cpu_idle_mwait',
    `${linux};cpuidle_enter;cpuidle_enter_state;intel_idle`,
    `${linux};default_idle;pv_native_safe_halt`,
    `${linux};call_cpuidle;vendor_idle_enter;cpuidle_enter_state`,
    `${linux};cpu_idle_poll.isra.0`,
    `${linux};intel_idle;mwait_idle_with_hints.constprop.0_[k]`,
    'kernel`fork_exit;kernel`sched_idletd;kernel`cpu_idle',
    'swapper;pv_native_safe_halt',
    'pv_native_safe_halt',
  ])('%s', (stack) => {
    expect(idleSamples(`${stack} 3`)).toBe(3);
  });
});

describe('work', () => {
  test.each([
    [`an interrupt taken while idle`, `${freebsd};acpi_cpu_c1;Xapic_isr1;intr_event_handle`],
    [
      'packets received while idle',
      `${linux};default_idle;asm_common_interrupt;net_rx_action;ip_rcv`,
    ],
    ['what the idle loop calls besides', `${linux};schedule_idle`],
    ['a clock that idling set off', `${freebsd};cpu_activeclock;handleevents`],
    [
      'a virtual processor that waits for a lock',
      'nginx;_raw_spin_lock;kvm_wait;pv_native_safe_halt',
    ],
    ['a lock waited for in an interrupt', `${linux};asm_common_interrupt;kvm_wait;native_halt`],
    ['a function that is not known', `${linux};[unknown]`],
    ['the idle process without a stack', 'swapper'],
    ['names out of every object', 'constructor;__proto__'],
  ])('%s', (_, stack) => {
    expect(idleSamples(`${stack} 3`)).toBe(0);
  });
});

test('removes idle stacks, and lists the frames that showed them as idle', () => {
  const profile = parseProfile(
    `${freebsd} 40\nfork_exit;ip_input 50\n${freebsd};cpu_idle_hlt 10\n`,
  );
  const { profile: work, ...idle } = withoutIdle(profile);
  expect(work).toEqual({ ...profile, stacks: [profile.stacks[1]] });
  expect(idle).toEqual({
    idleSamples: 50,
    idleFrames: ['sched_idletd', 'cpu_idle', 'cpu_idle_hlt'],
  });
});

const idleSamples = (text: string): number => withoutIdle(parseProfile(`${text}\n`)).idleSamples;
