// All benchmarks, each as a ratio measured within this one run.
import { benchDemo, describeDemo } from './demo.ts';
import { benchMinistat, describeMinistat } from './ministat.ts';
import { benchStartup, describeStartup } from './startup.ts';

console.log(describeStartup(benchStartup()));
console.log(describeMinistat(await benchMinistat()));
console.log(describeDemo(await benchDemo()));
