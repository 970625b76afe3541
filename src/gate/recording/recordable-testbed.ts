// Names the testbeds that can be recorded.
import type { FreebsdTestbed } from '../../config/freebsd-testbed.ts';
import type { TestbedConfig } from '../../config/schema.ts';
import type { VirtualTestbed } from '../../config/virtual-testbed.ts';

export type RecordableTestbed = FreebsdTestbed | VirtualTestbed;

export const isRecordable = (testbed: TestbedConfig): testbed is RecordableTestbed =>
  testbed.kind === 'freebsd' || testbed.kind === 'virtual';
