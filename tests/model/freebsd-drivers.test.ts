// Settings of flow control by driver, and drivers without one.
import { expect, test } from 'vitest';
import { driverSettingsOf, isFlowControlUnknown } from '../../src/model/freebsd-drivers.ts';

test.each([
  ['igc0', ['dev.igc.0.fc']],
  ['bnxt1', ['dev.bnxt.1.fc.rx', 'dev.bnxt.1.fc.tx']],
  ['ix0', ['dev.ix.0.fc']],
])('the flow control of %s is set by %j', (port, names) => {
  expect(driverSettingsOf(port).map(({ name }) => name)).toEqual(names);
  expect(isFlowControlUnknown(port)).toBe(false);
});

test.each([
  ['mlxen0', true],
  ['re0', true],
  ['vtnet0', false],
  ['cxl3', false],
])('that the flow control of %s is not known is %j', (port, isUnknown) => {
  expect(isFlowControlUnknown(port)).toBe(isUnknown);
});
