// Tests which stacks belong to idle processors, and which only interrupt them.
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
    `${linux};cpuidle_idle_call;cpuidle_enter;acpi_idle_enter;acpi_idle_do_entry;acpi_processor_ffh_cstate_enter`,
    `${linux};cpuidle_enter;intel_idle;__intel_idle`,
    `${linux};cpuidle_enter;cpuidle_enter_state;intel_idle_irq;__intel_idle`,
    `${linux};cpuidle_enter;cpuidle_enter_state;psci_enter_idle_state;psci_cpu_suspend_enter;__arm_smccc_smc`,
    `${linux};call_cpuidle;cpuidle_enter;cpuidle_enter_state;imx6q_enter_wait`,
    `${linux};cpuidle_enter;cpuidle_enter_state;bl_enter_powerdown;cpu_suspend;__cpu_suspend`,
    `${linux};cpuidle_enter;cpuidle_enter_state;sched_clock_cpu;native_sched_clock`,
    `${linux};default_idle_call;arch_cpu_idle;raw_local_irq_enable`,
    `${linux};tick_nohz_idle_enter;ktime_get`,
    `${linux};cpuidle_select;menu_select;tick_nohz_get_sleep_length`,
    `${freebsd};cpu_idle_of_a_later_release;wait_for_work`,
    'swapper;acpi_processor_ffh_cstate_enter',
    'swapper/3;psci_cpu_suspend_enter',
    'swapper;pv_native_safe_halt',
    'pv_native_safe_halt',
  ])('%s', (stack) => {
    expect(idleSamples(`${stack} 3`)).toBe(3);
  });
});

describe('work', () => {
  test.each([
    [`an interrupt taken while idle`, `${freebsd};acpi_cpu_c1;Xapic_isr1;intr_event_handle`],
    ['packets received while idle', `${linux};default_idle;asm_common_interrupt;net_rx_action;ip_rcv`],
    ['what the idle loop calls besides', `${linux};schedule_idle`],
    ['a clock that idling set off', `${freebsd};cpu_activeclock;handleevents`],
    ['a virtual processor that waits for a lock', 'nginx;_raw_spin_lock;kvm_wait;pv_native_safe_halt'],
    ['a lock waited for in an interrupt', `${linux};asm_common_interrupt;kvm_wait;native_halt`],
    ['a function that is not known', `${linux};[unknown]`],
    ['the idle process without a stack', 'swapper'],
    [
      'packets received while a driver of cpuidle idles',
      `${linux};cpuidle_enter;cpuidle_enter_state;acpi_idle_enter;asm_common_interrupt;common_interrupt;irq_exit_rcu;net_rx_action;ip_rcv`,
    ],
    ['packets received on arm64', `${linux};cpuidle_enter;cpuidle_enter_state;el1h_64_irq;gic_handle_irq;ixgbe_poll`],
    [
      'packets received by a kernel of 2015',
      'swapper;cpu_startup_entry;cpuidle_enter;cpuidle_enter_state;ret_from_intr;do_IRQ;irq_exit;ip_rcv',
    ],
    ['tasks woken up by other processors', `${linux};flush_smp_call_function_queue;ip_rcv`],
    ['a switch to another task', `${linux};schedule_idle;__schedule`],
    ['packets of an idle process without call chains', 'swapper;ip_forward'],
    ['a function of a program that is called idle', 'node;uv_run;uv__run_idle'],
    ['names out of every object', 'constructor;__proto__'],
  ])('%s', (_, stack) => {
    expect(idleSamples(`${stack} 3`)).toBe(0);
  });
});

test('removes idle stacks, and lists the frames that showed them as idle', () => {
  const profile = parseProfile(`${freebsd} 40\nfork_exit;ip_input 50\n${freebsd};cpu_idle_hlt 10\n`);
  const { profile: work, ...idle } = withoutIdle(profile);
  expect(work).toEqual({ ...profile, stacks: [profile.stacks[1]] });
  expect(idle).toEqual({
    idleSamples: 50,
    idleFrames: ['sched_idletd', 'cpu_idle', 'cpu_idle_hlt'],
  });
});

const idleSamples = (text: string): number => withoutIdle(parseProfile(`${text}\n`)).idleSamples;
