#!/usr/bin/env node
// tap.mjs RECORD COMMAND [ARG...]: runs COMMAND in its own place, relays stdin and stdout byte for
// byte, and writes what passes to RECORD.1.log (RECORD.2.log if that exists, and so on), one line
// an event, with the time in ms:
//   > TIME LINE     a line from the client           < TIME LINE    a line from the server
//   ) TIME BODY     what a Content-Length announced  ( TIME BODY
//   ] TIME BYTES    a line without its newline,      [ TIME BYTES   when the stream ended
//   # TIME WORDS    what happened to the processes
import { spawn } from 'node:child_process';
import { openSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import process from 'node:process';
import { Cutter } from './cutter.mjs';

const [path, command, ...args] = process.argv.slice(2);
const log = openRecord();

function openRecord() {
  for (let number = 1; ; number++) {
    try {
      return openSync(`${path}.${number}.log`, 'ax');
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
  }
}

function write(mark, bytes) {
  writeSync(log, Buffer.concat([Buffer.from(`${mark} ${Date.now()} `), bytes, Buffer.from('\n')]));
}

const note = words => write('#', Buffer.from(words));

// Listens before anything is relayed, so that a cause stands in the records before its effect.
function record(stream, [markOfLine, markOfBody, markOfTail]) {
  const cutter = new Cutter();

  stream.on('data', chunk => {
    cutter.add(chunk);
    for (let piece; (piece = cutter.next());)
      write(piece.isBody ? markOfBody : markOfLine, piece.bytes);
  });
  stream.on('end', () => {
    if (cutter.rest.length > 0) write(markOfTail, cutter.rest);
    note(`eof ${markOfLine}`);
  });
}

function relay(from, to) {
  from.pipe(to);
  to.on('error', () => from.destroy());
}

const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });

process.on('exit', () => child.kill('SIGKILL'));
child.on('error', error => {
  note(`failed ${error.code}`);
  process.exit(127);
});
child.on('spawn', () => note(`pids ${process.pid} ${child.pid}`));
child.on('close', (status, signal) => {
  note(`exit ${signal ?? status}`);
  process.exitCode = signal ? 128 + constants.signals[signal] : status;
  process.stdin.destroy();
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
});
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
  process.on(signal, () => {
    note(`got ${signal}`);
    child.kill(signal);
  });
}
record(process.stdin, '>)]');
record(child.stdout, '<([');
relay(process.stdin, child.stdin);
relay(child.stdout, process.stdout);
