#!/usr/bin/env node
// tap.mjs RECORD COMMAND [ARG...]: runs COMMAND in its own place, relays stdin and stdout byte for
// byte, and writes what passes to RECORD.1.log (RECORD.2.log if that exists, and so on), one line
// an event, with the time in ms:
//   > TIME LINE     a line from the client           < TIME LINE    a line from the server
//   ] TIME BYTES    the same without its newline,    [ TIME BYTES   when the stream ended
//   # TIME WORDS    what happened to the processes
import { spawn } from 'node:child_process';
import { openSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import process from 'node:process';

const [record, command, ...args] = process.argv.slice(2);
const log = openRecord();

function openRecord() {
  for (let number = 1; ; number++) {
    try {
      return openSync(`${record}.${number}.log`, 'ax');
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
function recordLines(stream, mark, markOfTail) {
  let tail = Buffer.alloc(0);

  stream.on('data', chunk => {
    tail = Buffer.concat([tail, chunk]);
    for (let end; (end = tail.indexOf(10)) >= 0; tail = tail.subarray(end + 1))
      write(mark, tail.subarray(0, end));
  });
  stream.on('end', () => {
    if (tail.length > 0) write(markOfTail, tail);
    note(`eof ${mark}`);
  });
}

function relay(from, to) {
  from.pipe(to);
  to.on('error', () => from.destroy());
}

const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });

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
recordLines(process.stdin, '>', ']');
recordLines(child.stdout, '<', '[');
relay(process.stdin, child.stdin);
relay(child.stdout, process.stdout);
