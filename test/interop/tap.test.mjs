// The recorder itself: if it changed or lost a byte, the other tests would prove nothing.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Record } from './wire.mjs';

const tap = fileURLToPath(new URL('tap.mjs', import.meta.url));
const bytes = Buffer.concat([
  Buffer.from('{"a":1}\r\n\n'),
  Buffer.from([0, 0xff, 0xfe, 0x80, 10]),
  Buffer.alloc(200_000, 'y'),
  Buffer.from('\nContent-Length: 7\r\nContent-Type: any\r\n\r\n{"b":2}'),
  Buffer.from('content-length:7\n\n{"c":3}no newline')
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
    const { events } = new Record(`${record}.1.log`);

    for (const [line, body, tail] of ['>)]', '<([']) {
      const pieces = events.filter(({ mark }) => [line, body, tail].includes(mark));
      const bodies = pieces.filter(({ mark }) => mark === body);

      assert.deepEqual(
        bodies.map(piece => piece.bytes),
        ['{"b":2}', '{"c":3}']
      );
      assert.equal(
        pieces.map(({ mark, bytes }) => (mark === line ? `${bytes}\n` : bytes)).join(''),
        bytes.toString('latin1')
      );
    }
  }
);
