import { expect, it } from 'vitest';
import { blocksText, templated } from './hcl.ts';

it('values stand for exactly their text, whatever HCL and Packer would expand in it', () => {
  const values = {
    plain: 'a "quoted" C:\\bin\f line\n',
    hcl: `\${path.root} %{ if x }`,
    packer: '{{ timestamp }}',
    shell: templated(`sh '{{ .Path }}'; echo $? \${code}`),
    many: ['a', 1, true, { verbatim: 'var.x' }],
    none: undefined,
    map: { 'muster:build': 'b' },
  };
  const text = blocksText([{ type: 'source', labels: ['null', 'image'], values, blocks: [{ type: 'inner' }] }]);

  expect(text.split('\n')).toEqual([
    'source "null" "image" {',
    '  plain = "a \\"quoted\\" C:\\\\bin\\u000c line\\n"',
    '  hcl = "$${path.root} %%{ if x }"',
    '  packer = "{{`{{`}} timestamp }}"',
    '  shell = "sh \'{{ .Path }}\'; echo $? $${code}"',
    '  many = ["a", 1, true, var.x]',
    '  map = { "muster:build" = "b" }',
    '  inner {',
    '  }',
    '}',
    '',
  ]);
});
