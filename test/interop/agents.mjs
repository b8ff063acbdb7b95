// Unmodified agents in a terminal, with a played model, and server-v1 behind canceld. For each scene is told
// what the screen showed and what the server received.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { describe, test } from 'node:test';
import { Model } from './model.mjs';
import { claude, codex, copilot, gemini, installed, opencode, qwen, settle, versions } from './played.mjs';
import { Terminal } from './terminal.mjs';
import { alive, here, until, Wire } from './wire.mjs';

// command: how it is started with a prompt; types: without one, which is typed when the screen shows
// this; once: how it ends after one prompt; interrupt: what the screen shows after each Esc; cancels:
// whether Esc is told to the server.
const agents = {
  // Its daemon would keep the servers when the terminal is gone.
  [`Codex ${versions['@openai/codex']}`]: {
    ...codex,
    command: [installed('.bin/codex'), '--no-daemon'],
    types: /^›/m,
    interrupt: [/interrupted/i],
    cancels: true
  },
  [`Gemini CLI ${versions['@google/gemini-cli']}`]: {
    ...gemini,
    command: [installed('.bin/gemini'), '--yolo', '-i'],
    interrupt: [/Request cancelled/],
    cancels: false
  },
  [`opencode ${versions['opencode-linux-x64']}`]: {
    ...opencode,
    command: [installed('opencode-linux-x64/bin/opencode'), '--prompt'],
    once: [installed('opencode-linux-x64/bin/opencode'), 'run'],
    interrupt: [/again to interrupt/, /interrupted/],
    cancels: true
  },
  [`Claude Code ${versions['@anthropic-ai/claude-code-linux-x64']}`]: {
    ...claude,
    command: [
      installed('@anthropic-ai/claude-code-linux-x64/claude'),
      ...['--allowedTools=mcp__test', '--permission-mode=default']
    ],
    types: /^❯/m,
    interrupt: [/interrupted/i],
    cancels: true
  },
  [`Qwen Code ${versions['@qwen-code/qwen-code']}`]: {
    ...qwen,
    command: [installed('.bin/qwen'), '--yolo', '-i'],
    interrupt: [/Request cancelled/],
    cancels: true
  },
  [`Copilot CLI ${versions['@github/copilot-linux-x64']}`]: {
    ...copilot,
    command: [installed('@github/copilot-linux-x64/copilot'), '--allow-all', '-i'],
    interrupt: [/again to interrupt/, /cancelled by user/],
    cancels: true
  }
};

const parent = pid =>
  Number(readFileSync(`/proc/${pid}/stat`, 'latin1').match(/^\d+ \(.*\) \S (\d+)/s)[1]);

// options: of canceld; null: the agent starts the server itself. server: its command, if it is not server-v1 with a tap.
class Scene extends Wire {
  constructor(test, agent, options, prompt, server) {
    super(test);
    Object.assign(this, { test, agent, options, prompt });
    this.server = server ?? this.tapped('server', [process.execPath, join(here, 'server-v1.mjs')]);
    // Outside this repository: an agent looks for the project that it runs in, and writes into it.
    this.home = mkdtempSync(join(tmpdir(), 'interop-'));
  }

  clean() {
    this.terminal?.close();
    super.clean();
    rmSync(this.home, { recursive: true, maxRetries: 3 });
  }

  async start() {
    const { agent, home, options, prompt, test } = this;

    this.model = await new Model(test).listen();
    const canceld = [process.env.CANCELD, '-v', '-l', join(home, 'log'), '--name', 'scene'];

    this.env = settle(agent, {
      home,
      url: this.model.url,
      server: {
        words: [...(options ? [...canceld, ...options, '--'] : []), ...this.server],
        env: { INTEROP_MARKS: this.marksFile }
      }
    });
    this.terminal = new Terminal(
      home,
      [...agent.command, ...(agent.types ? [] : [prompt])],
      this.env
    );
    if (agent.types) await this.unless(this.type(prompt));
    return this;
  }

  // The agent tells the model what tools there are as soon as it knows them, and does not wait for it. Codex takes a
  // key that comes fast behind another for pasted text, in which Enter is a new line.
  type(prompt) {
    let typed = 0;
    let pressed = 0;

    return until('a tool is called', () => {
      if (typed === this.model.missed && this.agent.types.test(this.terminal.screen)) {
        ++typed;
        this.terminal.press(prompt);
        pressed = Date.now();
      } else if (typed > this.model.missed && Date.now() - pressed > 500) {
        this.terminal.press('Enter');
        pressed = Date.now();
      }
      return this.model.calls > 0;
    });
  }

  get log() {
    return readFileSync(join(this.home, 'log'), 'utf8');
  }

  logged(word) {
    return this.log.match(RegExp(`: ${word} .*`, 'g')) ?? [];
  }

  get canceld() {
    return Number(this.log.match(/canceld\[(\d+)\]/)[1]);
  }

  get calls() {
    return this.records('server').flatMap(record => record.heard('sent', 'tools/call'));
  }

  async shows(words) {
    await this.unless(until(`the screen shows ${words}`, () => words.test(this.terminal.screen)));
  }

  // An agent that is drawing may miss a key.
  async answers(key, words) {
    let pressed = 0;

    await this.unless(
      until(`the screen shows ${words} of ${key}`, () => {
        const shown = words.test(this.terminal.screen);

        if (!shown && Date.now() - pressed > 2_000) {
          this.terminal.press(key);
          pressed = Date.now();
        }
        return shown;
      })
    );
  }

  // A failure tells what the screen showed.
  unless(reached) {
    const log = () => existsSync(join(this.home, 'log')) && this.log;

    return reached.catch(({ message }) =>
      assert.fail(`${message}\n${this.terminal.screen}\n${log()}`)
    );
  }

  // The model was told this of its calls, and the person sees it.
  async told(...results) {
    await this.shows(/the tool said/);
    assert.equal(this.model.results.length, results.length, 'one answer for each call');
    results.forEach((words, index) => assert.match(this.model.results[index], words));
  }

  person() {
    const words = ['cancel', this.canceld, this.calls.at(-1).id, '--reason', 'too slow'];

    execFileSync(process.env.CANCELCTL, words.map(String), { env: { ...process.env, ...this.env } });
  }

  // Nothing is left of the server; it heard of the end of each call once, whoever ended it.
  async over(cancelled) {
    await until('canceld has ended', () => !alive(this.canceld));
    await this.gone();
    const ids = this.records('server').flatMap(record => record.cancelledIds);

    assert.deepEqual(ids, cancelled ? [this.calls[0].id] : []);
    assert.equal(this.marks('aborted').length, ids.length);
    this.record();
  }

  async quit(cancelled) {
    this.look();
    await until('the agent has quit', () => this.terminal.ended || this.terminal.press('C-d'));
    await this.over(cancelled);
  }

  look() {
    this.screen = this.terminal.screen.replace(/\n\s*(?=\n)/g, '');
  }

  record() {
    const heard = this.records('server').map(({ sent }) => sent.map(line => line.slice(0, 160)));

    this.test.diagnostic(`${this.test.name}: the screen\n${this.screen}`);
    heard.forEach(lines => this.test.diagnostic(`a server received\n${lines.join('\n')}`));
  }
}

async function held(...options) {
  const scene = await new Scene(...options, 'call hold {}').start();

  await scene.unless(scene.marked('started'));
  return scene;
}

// Whether a server behind sh that needs `ms` to save, at the end of its input or a signal (`any`) or only at a signal,
// has saved when the agent has quit. Through canceld nothing of it is left then.
async function hasSaved(t, agent, options, when, ms) {
  const words = [process.execPath, join(here, 'saver.mjs'), when, ms].map(word => `'${word}'`).join(' ');
  const prompt = 'call echo {"words":"before the end"}';
  const player = { ...agent, command: agent.once ?? agent.command };
  const scene = await new Scene(t, player, options, prompt, ['sh', '-c', `${words}; true`]).start();
  const serving = () => scene.marks('serving').map(({ id }) => id).filter(alive);

  await scene.unless(scene.marked('listed'));
  await until('the agent has quit', () => scene.terminal.ended || scene.terminal.press('C-d'));
  if (options) {
    // Where the agent kills canceld, the guardian ends the server.
    await until('canceld has ended', () => !alive(scene.canceld));
    await until('nothing is left of the server', () => serving().length === 0);
  } else {
    await until('the server has ended or was left', () => serving().length === 0, 5_000).catch(() => {});
    serving().forEach(pid => process.kill(pid, 'SIGKILL'));
  }
  return scene.marks('saved').length > 0;
}

// Each row has a time limit of its own: it starts the agent twice.
const saver = (when, ms) => async (t, agent) => {
  const without = await hasSaved(t, agent, null, when, ms);
  const through = await hasSaved(t, agent, [], when, ms);

  t.diagnostic(`${t.name}: saved without canceld ${without}, with it ${through}`);
  assert.ok(through || !without, 'without canceld the server has saved');
};

const scenes = {
  'a server that needs 1.5 s to save after end of file or a signal': saver('any', 1_500),
  'a server that needs 400 ms to save after a signal': saver('signal', 400),

  async 'a deadline'(t, agent) {
    const scene = await held(t, agent, ['-t', 'tools/call=1s']);

    await scene.told(/made no progress for 1000 ms/);
    await scene.quit(true);
    assert.equal(scene.logged('TIMED_OUT').length, 1);
  },

  async 'Esc'(t, agent) {
    const scene = await held(t, agent, []);

    for (const words of agent.interrupt) await scene.answers('Escape', words);
    if (agent.cancels) await scene.marked('aborted');
    else {
      assert.deepEqual(scene.serverEnd.cancels, []);
      scene.person();
      await scene.marked('aborted');
    }
    await scene.quit(true);
    assert.equal(scene.logged('CANCEL_FORWARDED').length, agent.cancels ? 1 : 0);
    assert.deepEqual(scene.model.results, []);
  },

  async 'a cancel by a person'(t, agent) {
    const scene = await held(t, agent, []);

    scene.person();
    await scene.told(/was cancelled by a person: too slow/);
    await scene.quit(true);
    assert.equal(scene.logged('OPERATOR_CANCELLED').length, 1);
  },

  async 'kill -9 of the agent'(t, agent) {
    const scene = await held(t, agent, []);

    scene.look();
    process.kill(parent(scene.canceld), 'SIGKILL');
    await scene.over(true);
  },

  async 'a crash with -r'(t, agent) {
    const prompt = 'call crash {"status":3} call echo {"words":"after the crash"}';
    const scene = await new Scene(t, agent, ['-r'], prompt).start();

    await scene.told(/crash was not finished when the server was restarted/, /after the crash/);
    assert.deepEqual(
      scene.records('server').map(record => record.heard('sent', 'tools/call').length),
      [1, 1]
    );
    await scene.quit(false);
    assert.equal(scene.logged('RESTARTED').length, 1);
  }
};

for (const [name, agent] of Object.entries(agents)) {
  const skip = !existsSync(agent.command[0]) && 'there is no such package for this platform';

  describe(name, { skip }, () => {
    for (const [what, play] of Object.entries(scenes))
      test(`${name}: ${what}`, { timeout: 240_000 }, t => play(t, agent));
  });
}
