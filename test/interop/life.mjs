// Loaded before every program of node in a run (NODE_OPTIONS of `run`, with the pid of the runner): it ends when the
// runner is gone, whoever should have ended it.
import process from 'node:process';

const runner = Number(new URL(import.meta.url).search.slice(1));

setInterval(() => {
  try {
    process.kill(runner, 0);
  } catch {
    process.exit(1);
  }
}, 1000).unref();
