// Comments that try to make GitHub's runner take a line of our log for a command.

/** All of them address ppsgate, which repeats short ones in its log; none is a known command. */
export const hostileComments: readonly string[] = [
  '/ppsgate run "margn=##[set-output name=directory;]/p*/*/en*"',
  '/ppsgate run "margin=##[set-output name=go;]true"',
  '/ppsgate run "testbed=##[set-output name=go;]true"',
  '/ppsgate cancel "##[set-output name=cancel;]true"',
  ...[
    '##[set-output name=request;]{}',
    '##[SET-OUTPUT name=go]true',
    'a ###[set-output name=go]true',
    '::x::##[set-output name=go]true',
    '\u0000##[set-output name=go]%0Atrue',
    '##[save-state name=lease]/etc',
    '##[save-state name=embedded-lab]1',
    '##[set-env name=NODE_OPTIONS]-r/x',
    '##[add-path]/tmp',
    '##[add-mask]ppsgate',
    '##[add-matcher]/tmp/m.json',
    '##[stop-commands]x',
    '##[error]forged',
    '::set-output name=go::true',
    '\r\u2003::set-output name=go::true',
    '\u2028::set-output name=go::true',
    '\ufeff::set-output name=go::true',
    '%0A::set-output name=go::true',
  ].map((word) => `/ppsgate "${word}"`),
];
