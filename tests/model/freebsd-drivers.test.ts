// Settings of flow control by driver, and drivers without one.
import { expect, test } from 'vitest';
import { driverSettingsOf, isFlowControlUnknown } from '../../src/model/freebsd-drivers.ts';

test.each([
  ['igc0', ['dev.igc.0.fc']],
  ['bnxt1', ['dev.bnxt.1.fc.rx', 'dev.bnxt.1.fc.tx']],
  ['ix0', ['dev.ix.0.fc']],
  ['mxge2', ['dev.mxge.2.flow_control_enabled']],
  ['lio0', ['dev.lio.0.fc']],
])('the flow control of %s is set by %j', (port, names) => {
  expect(driverSettingsOf(port).map(({ name }) => name)).toEqual(names);
  expect(isFlowControlUnknown(port)).toBe(false);
});

test.each([
  ['mlxen0', true],
  ['re0', true],
  ['ax0', true],
  ['sfxge0', true],
  ['oce1', true],
  ['vtnet0', false],
  ['cxl3', false],
])('that the flow control of %s is not known is %j', (port, isUnknown) => {
  expect(isFlowControlUnknown(port)).toBe(isUnknown);
});
