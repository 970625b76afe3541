// The bench of the bisected regression: 16 cores with two threads each of a Xeon E5-2697A v4, in by a Chelsio T580-LP-CR,
// out by a Mellanox ConnectX-4, 40 Gbit/s, 4000 flows.
import type { FreebsdLabOptions } from '../fakes/freebsd-lab/lab.ts';
import { type Builder, type Study, startStudy } from './study.ts';

/** @param truth what the DUT forwards by the kernel that it runs; of a real bench's noise a boot has 0.5 %. */
export const startXeon40g = (
  truth: Required<FreebsdLabOptions>['truth'],
  builder: Builder,
  repository: string,
): Promise<Study> =>
  startStudy({
    name: 'xeon-40g',
    lab: {
      truth,
      noise: { perBoot: 0.005 },
      hardware: { 'hw.model': 'Intel(R) Xeon(R) CPU E5-2697A v4 @ 2.60GHz', 'hw.ncpu': '32' },
      loaderConf: {
        'hw.cxgbe.nrxq10g': '32',
        'hw.cxgbe.ntxq10g': '32',
        'dev.mce.0.conf.channels': '32',
        'machdep.hyperthreading_allowed': '1',
      },
      generatorPps: 42_490_000,
      cabling: {
        generators: 'separate',
        mediaBits: 40e9,
        ports: [
          { name: 'cxl0', card: 'T580-LP-CR' },
          { name: 'mce0', card: 'ConnectX-4', far: { name: 'cxl0', card: 'T580-LP-CR' } },
        ],
      },
    },
    port: 'speed: 40 Gbit/s, queues: 32',
    testbedLines: builder.linesFor(repository),
    settings: `
scenarios: [forwarding]
families: [inet4]
traffic: { flows: 4000, rate: 42.49 Mpps }
`,
  });
