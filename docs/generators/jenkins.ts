// Builds the reference of the Jenkins step from ppsgate.txt, its help on Jenkins, and the option table.
import { isOfBisect, isOfGate, namingStyles, parameter, parametersThat } from '../../src/config/parameters.ts';
import { code, type Row, table } from './markdown.ts';

/** `help` is jenkins/vars/ppsgate.txt, whose sections list parameters with their meanings. */
export function jenkinsPage(help: string): string {
  const [introduction = '', ...parts] = help.split(/\n\n(?=[A-Z][^\n]*\n {2}\w)/);
  const [last = '', ...closing] = (parts.pop() ?? '').split('\n\n');
  const seen = new Set<string>();
  const sections = [...parts, last].map((part) => {
    const [heading = '', ...lines] = part.split('\n');
    // Later sections repeat parameters that also hold there.
    const rows = rowsOf(lines).filter(([name = '']) => !seen.has(name));
    for (const [name = ''] of rows) seen.add(name);
    return `## ${heading}\n\n${table(['parameter', 'kind', 'option', 'meaning'], rows)}`;
  });
  const words = introduction.split('\n\n').map((block) => {
    return /^ {2}/.test(block) ? `\`\`\`groovy\n${block.replaceAll(/^ {2}/gm, '')}\n\`\`\`` : block;
  });
  return `${[head, ...words, ...sections, ...closing.map((text) => text.trim())].join('\n\n')}\n`;
}

const head = `# Jenkins step

Generated from \`jenkins/vars/ppsgate.txt\` and the option table by \`vitest run tests/docs/reference.test.ts --update\`; do
not edit.`;

function rowsOf(lines: readonly string[]): Row[] {
  return lines
    .join('\n')
    .split(/\n(?= {2}\w)/)
    .flatMap((item) => {
      const [, names = '', meaning = ''] = /^ {2}(\w+(?:, \w+)*) {2,}(.+)$/s.exec(item) ?? [];
      const text = meaning.replaceAll(/\s+/g, ' ');
      return names === '' ? [] : names.split(', ').map((name) => rowOf(name, text));
    });
}

function rowOf(name: string, meaning: string): Row {
  const [known] = parametersThat(({ jenkins }) => jenkins === true).filter((one) => one === name);
  if (known === undefined) return [code(name), 'text', '', meaning];
  const { kind = 'text', option } = parameter(known);
  const commands = [
    ...(isOfGate(parameter(known)) ? [`gate ${code(namingStyles.flag(known))}`] : []),
    ...(isOfBisect(parameter(known)) ? [`bisect ${code(namingStyles.bisectFlag(known))}`] : []),
  ];
  const shownKind = { list: 'list or text', switch: '`true`, `false`', text: 'text' }[kind];
  const text = meaning.includes('--help') ? (option?.help ?? meaning) : meaning;
  return [code(name), shownKind, commands.join('<br>'), text];
}
