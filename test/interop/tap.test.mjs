// The recorder itself: if it changed or lost a byte, the other tests would prove nothing.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const tap = fileURLToPath(new URL('tap.mjs', import.meta.url));
const bytes = Buffer.concat([
  Buffer.from('{"a":1}\r\n\n'),
  Buffer.from([0, 0xff, 0xfe, 0x80, 10]),
  Buffer.alloc(200_000, 'y'),
  Buffer.from('\nno newline')
]);

test(
  'the recorder changes nothing, misses nothing and ends as its command does',
  { timeout: 10_000 },
  async () => {
    const record = join(mkdtempSync(join(tmpdir(), 'tap-')), 'cat');
    const child = spawn(process.execPath, [tap, record, 'sh', '-c', 'cat; exit 7']);
    const status = new Promise(resolve => child.on('close', resolve));

    child.stdin.end(bytes);
    assert.deepEqual(await buffer(child.stdout), bytes);
    assert.equal(await status, 7);
    for (const marks of ['>]', '<[']) {
      const lines = readFileSync(`${record}.1.log`, 'latin1')
        .split('\n')
        .filter(line => marks.includes(line[0]));

      assert.equal(
        lines.map(line => line.replace(/^. \d+ /, '')).join('\n'),
        bytes.toString('latin1')
      );
    }
  }
);
