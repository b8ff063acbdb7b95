// A program in a terminal, by tmux: keys are pressed, the screen is read.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export class Terminal {
  constructor(directory, command, env) {
    const set = Object.entries(env).map(([name, value]) => `${name}=${value}`);

    this.socket = join(directory, 'tmux');
    this.tmux(
      ...['-f', '/dev/null', 'new-session', '-d', '-x', '100', '-y', '40', '-c', directory],
      ...['env', ...set, ...command, ';', 'set', '-g', 'remain-on-exit', 'on']
    );
  }

  tmux(...words) {
    return execFileSync('tmux', ['-S', this.socket, ...words], { encoding: 'utf8' }).trimEnd();
  }

  get screen() {
    return this.tmux('capture-pane', '-p');
  }

  get ended() {
    return this.tmux('display', '-p', '#{pane_dead}') === '1';
  }

  press(key) {
    this.tmux('send-keys', key);
  }

  close() {
    this.tmux('kill-server');
  }
}
