// Unmodified agents of ACP, with a played model and server-v1, behind canceld: what their server hears of a cancelled
// turn, and what a new process knows of a session whose process was killed.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { describe, test } from 'node:test';
import { AcpSession, failure } from './acp.mjs';
import { Model } from './model.mjs';
import { claude, codex, gemini, installed, opencode, settle, versions } from './played.mjs';
import { alive, here, until } from './wire.mjs';

const node = (name, path) => [process.execPath, installed(`${name}/${path}`)];
const ofAcp = '@agentclientprotocol';

// mode: without it no tool may be called; cancels: whether its server hears of a cancelled turn.
const agents = {
  [`claude-agent-acp ${versions[`${ofAcp}/claude-agent-acp`]}`]: {
    ...claude,
    command: node(`${ofAcp}/claude-agent-acp`, 'dist/index.js'),
    // With IS_SANDBOX it asks for rights that it does not get as root.
    env: url => ({ ...claude.env(url), IS_SANDBOX: undefined }),
    mode: 'default',
    cancels: true
  },
  [`codex-acp ${versions[`${ofAcp}/codex-acp`]}`]: {
    ...codex,
    command: node(`${ofAcp}/codex-acp`, 'dist/index.js'),
    mode: 'agent-full-access',
    cancels: true
  },
  [`Gemini CLI ${versions['@google/gemini-cli']} --acp`]: {
    ...gemini,
    command: [installed('.bin/gemini'), '--acp', '--yolo'],
    // It answers session/load before it repeats the history.
    cancels: false
  },
  [`opencode ${versions['opencode-linux-x64']} acp`]: {
    ...opencode,
    command: [installed('opencode-linux-x64/bin/opencode'), 'acp'],
    cancels: true
  }
};

const children = pid =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number);
const started = pid => children(pid).flatMap(child => [child, ...started(child)]);
const permit = (signal, { options }) => ({
  outcome: { outcome: 'selected', optionId: options.find(({ kind }) => kind === 'allow_once').optionId }
});
const fact = 'The word is blue-heron-17.';

class Scene extends AcpSession {
  static async open(test, agent) {
    const home = mkdtempSync(join(tmpdir(), 'interop-'));
    const model = await new Model(test).listen();
    const env = settle(agent, { home, url: model.url });
    const canceld = ['-v', '-D', 'acp', '-r'];
    const scene = new Scene(test, { canceld, command: agent.command, env, permit });

    Object.assign(scene, { home, model, mode: agent.mode });
    return scene.start();
  }

  // No tap is beside the agent: it would outlive an agent that is killed, for as long as what that started lives.
  command(agent, canceld) {
    return [process.env.CANCELD, ...canceld, '--', ...agent];
  }

  async newSession() {
    const [command, ...args] = this.tapped('server', [process.execPath, join(here, 'server-v1.mjs')]);
    const env = [{ name: 'INTEROP_MARKS', value: this.marksFile }];
    const server = { name: 'test', command, args, env };
    const opened = await this.agent.request('session/new', { cwd: this.home, mcpServers: [server] });

    this.sessionId = opened.sessionId;
    if (this.mode) {
      const { sessionId, mode: modeId } = this;

      await this.agent.request('session/set_mode', { sessionId, modeId });
    }
    return this.sessionId;
  }

  say(text) {
    const { sessionId } = this;

    return this.agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  }

  // An agent does not wait for the tools of its servers: who asks too early is told that there are none.
  async call(tool, called) {
    const reached = until(`${tool} was called`, called, 150_000).then(() => true);
    let turn;

    do {
      turn = this.say(`call ${tool}`);
      turn.catch(() => {});
    } while (!(await Promise.race([reached, turn.then(called)])));
    return { turn };
  }

  hold() {
    return this.call('hold {}', () => this.marks('started').length > 0);
  }

  async echo(words) {
    const { turn } = await this.call(`echo {"words":"${words}"}`, () =>
      this.model.results.some(result => result.includes(words))
    );

    assert.equal((await turn).stopReason, 'end_turn');
  }

  async close() {
    const pids = started(this.child.pid);

    assert.equal(await super.end(), 0);
    await until('nothing is left of the agent', () => !pids.some(alive));
  }

  clean() {
    super.clean();
    this.child.kill();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 3 });
  }
}

const scenes = {
  async 'a cancelled turn'(t, agent) {
    const scene = await Scene.open(t, agent);
    const { turn } = await scene.hold();

    await scene.cancelTurn();
    assert.equal((await turn).stopReason, 'cancelled');
    if (agent.cancels) await scene.marked('aborted');
    await scene.close();
    const [held] = scene.serverEnd.heard('sent', 'tools/call');

    assert.deepEqual(scene.serverEnd.cancelledIds, agent.cancels ? [held.id] : []);
  },

  async 'SIGKILL in the middle of a turn, with -r'(t, agent) {
    const scene = await Scene.open(t, agent);

    assert.equal((await scene.say(fact)).stopReason, 'end_turn');
    const { turn } = await scene.hold();
    const asked = scene.model.asked.length;
    const heard = scene.heard.length;
    const pid = Number(scene.logged('STARTED').at(-1).match(/(?<=process=)\d+/));
    const before = [pid, ...started(pid)];

    process.kill(pid, 'SIGKILL');
    assert.equal((await failure(turn)).data.cause, 'server-restarted');
    await scene.echo('after the crash');
    assert.ok(
      scene.model.asked
        .slice(asked)
        .some(({ body }) => body.includes(fact) && body.includes('after the crash')),
      'the new process knows the former turn'
    );
    const again = scene.heard.slice(heard).filter(each => JSON.stringify(each).includes(fact));

    assert.deepEqual(again, [], 'history that the client hears again');
    assert.equal(scene.logged('RESTARTED').length, 1);
    await until('nothing is left of the first', () => !before.some(alive));
    await scene.close();
  }
};

for (const [name, agent] of Object.entries(agents)) {
  const skip = !existsSync(agent.command.at(-1)) && !existsSync(agent.command[0]);

  describe(name, { skip: skip && 'there is no such package for this platform' }, () => {
    for (const [what, play] of Object.entries(scenes))
      test(`${name}: ${what}`, { timeout: 240_000 }, t => play(t, agent));
  });
}
