// src/cli/commands/overview-details.ts
const overviewDetails = `
Examples:
  ppsgate testbeds --watch
  ppsgate testbeds --json | jq -r '.testbeds[] | select(.state == "free").name'

As JSON, keys that do not apply are left out:
  {
    "at": "2026-11-20T14:20:31.000Z",
    "testbeds": [
      { "name": "hp-t540", "kind": "freebsd", "state": "held",
        "held": { "who": "alice@lab1", "purpose": "gate", "patch": "#12",
                  "url": "https://…", "testbed": "hp-t540",
                  "priority": "patch", "token": 1763647351207,
                  "since": "2026-11-20T14:02:31.207Z",
                  "expectedUntil": "2026-11-20T14:55:31.207Z" } },
      { "name": "rcc-ve", "kind": "freebsd", "state": "quarantine",
        "quarantine": { "reason": "…", "by": "ppsgate",
                        "since": "2026-11-20T13:10:02.114Z" } },
      { "name": "shelf", "kind": "linux", "state": "left-behind",
        "leftBy": [{ "who": "carol@lab2", "purpose": "by hand",
                     "testbed": "shelf", "since": "…" }] },
      { "name": "rack-4", "kind": "linux", "state": "free" }
    ],
    "queue": [
      { "place": 1, "of": 1, "expectedSeconds": 2100, "who": "bob@lab2",
        "purpose": "gate", "patch": "#14", "priority": "patch",
        "wants": ["hp-t540"], "since": "2026-11-20T14:11:09.530Z" }
    ]
  }`;

export { overviewDetails };