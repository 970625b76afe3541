// All benchmarks, each as a ratio measured within this one run.
import { benchDemo } from './demo.ts';
import { benchFlamegraph, describeFlamegraph } from './flamegraph.ts';
import { benchFold, describeFold } from './fold.ts';
import { benchHostileText, describeHostileText } from './hostile-text.ts';
import { benchLabTime } from './lab-time.ts';
import { benchMinistat, describeMinistat } from './ministat.ts';
import { benchRelay } from './relay.ts';
import { benchReservation } from './reservation.ts';
import { benchStartup, describeStartup } from './startup.ts';

console.log(describeStartup(await benchStartup()));
console.log(describeMinistat(await benchMinistat()));
console.log(describeFold(await benchFold()));
console.log(describeFlamegraph(benchFlamegraph()));
for (const line of describeHostileText(benchHostileText())) console.log(line);
for await (const line of benchDemo({ demos: 1, busyLoops: 0 })) console.log(line);
for (const line of await benchLabTime()) console.log(line);
for (const line of await benchReservation()) console.log(line);
for (const line of await benchRelay()) console.log(line);
