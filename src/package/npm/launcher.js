#!/usr/bin/env node
// Runs the program of its own name out of the package for this system, in the place of Node.js where that can replace
// itself (22.15), else beside it. `--path` alone: prints where the program is.
'use strict';

const { spawn } = require('node:child_process');
const { accessSync, constants, readFileSync } = require('node:fs');
const os = require('node:os');
const { basename } = require('node:path');
const { optionalDependencies } = require('../package.json');

const name = basename(__filename, '.js');
const system = `${process.platform}-${process.arch}`;

function fail(words) {
  console.error(`${name}: ${words}`);
  process.exit(125);
}

function find() {
  const wanted = `@canceld/${system}`;
  const packages = Object.keys(optionalDependencies);

  if (!packages.includes(wanted)) {
    const systems = packages.map(path => basename(path)).join(', ');
    const instead =
      process.platform === 'win32' ? 'install and run it in WSL2' : 'build canceld from its source';

    fail(`npm has no program for ${system}, only for ${systems}: ${instead}`);
  }
  try {
    const program = require.resolve(`${wanted}/bin/${name}`);

    // process.execve() aborts where it fails.
    accessSync(program, constants.X_OK);
    return program;
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') fail(error.message);
    fail(
      `the package ${wanted} is missing: install canceld again, on this system and with ` +
        'npm install --include=optional (-g if it was installed with -g)'
    );
  }
}

// As the program ended: by the same signal, or with the same status.
function end(status, signal) {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
  process.exit(signal ? 128 + os.constants.signals[signal] : status);
}

// Whether this process, and so the program, is in the foreground of a terminal, which sends SIGINT to both. proc(5).
function inForeground() {
  try {
    const [, , group, , , foreground] = readFileSync('/proc/self/stat', 'latin1').split(') ').pop().split(' ');

    return group === foreground;
  } catch {
    return false;
  }
}

// Ends the program where SIGKILL has ended Node.js, with which nothing can be done any more: its pipe is then closed.
function watchOver(child) {
  const script = 'read line; kill "$0"';
  const options = { stdio: ['pipe', 'ignore', 'ignore'], detached: true };
  const watcher = spawn('/bin/sh', ['-c', script, child.pid], options);

  watcher.on('error', () => {});
  // Before Node.js has noted that the program has ended, its pid belongs to no other.
  child.on('exit', () => watcher.kill('SIGKILL'));
}

function standBeside(program, args) {
  const child = spawn(program, args, { stdio: 'inherit' });

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'])
    process.on(signal, () => (signal === 'SIGINT' && inForeground()) || child.kill(signal));
  child.on('error', error => fail(error.message));
  if (child.pid) watchOver(child);
  child.on('exit', end);
}

// Node.js ignores these, and what it starts by execve would too; a signal with a listener is one that it does not ignore.
for (const signal of ['SIGPIPE', 'SIGXFSZ']) process.on(signal, () => {});

const program = find();
const args = process.argv.slice(2);

if (args.length === 1 && args[0] === '--path') console.log(program);
else if (process.execve) process.execve(program, [program, ...args], process.env);
else standBeside(program, args);
