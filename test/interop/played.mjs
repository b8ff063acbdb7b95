// The agents of npm: where they are, and how each is configured for a played model and, where `server` is given, for
// that MCP server. file, config: its configuration; trust: its list of trusted folders; env: of the agent.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { here } from './wire.mjs';

const packages = join(here, '../interop-agents');
const pinned = JSON.parse(readFileSync(join(packages, 'package.json'), 'utf8'));

export const versions = { ...pinned.dependencies, ...pinned.optionalDependencies };
export const installed = path => join(packages, 'node_modules', path);

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const entry = (server, more) =>
  server && { mcpServers: { test: { command: server.words[0], args: server.words.slice(1), env: server.env, ...more } } };

export const codex = {
  file: '.codex/config.toml',
  config: ({ home, url, server }) => `
model = "played"
model_provider = "played"
check_for_update_on_startup = false
approval_policy = "never"
sandbox_mode = "danger-full-access"
analytics = { enabled = false }
model_providers.played = { name = "played", base_url = "${url}/v1", wire_api = "responses" }
projects."${home}" = { trust_level = "trusted" }
${
  server
    ? `
[mcp_servers.test]
command = ${JSON.stringify(server.words[0])}
args = ${JSON.stringify(server.words.slice(1))}
env = { INTEROP_MARKS = ${JSON.stringify(server.env.INTEROP_MARKS)} }
`
    : ''
}`,
  env: () => ({})
};

export const gemini = {
  file: '.gemini/settings.json',
  config: ({ server }) =>
    JSON.stringify({
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      security: { auth: { selectedType: 'gemini-api-key' } },
      ...entry(server, { trust: true })
    }),
  env: url => ({
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: 'none',
    GEMINI_MODEL: 'gemini-2.5-pro',
    GEMINI_CLI_TRUST_WORKSPACE: 'true'
  })
};

export const claude = {
  file: '.claude.json',
  config: ({ home, server }) =>
    JSON.stringify({
      hasCompletedOnboarding: true,
      projects: { [home]: { hasTrustDialogAccepted: true } },
      ...entry(server)
    }),
  env: url => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_AUTH_TOKEN: 'none',
    ANTHROPIC_MODEL: 'played',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ENABLE_TOOL_SEARCH: 'false'
  })
};

export const qwen = {
  file: '.qwen/settings.json',
  config: ({ server }) =>
    JSON.stringify({
      general: { enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false },
      tools: { toolSearch: { enabled: false } },
      security: { auth: { selectedType: 'openai' } },
      ...entry(server, { trust: true })
    }),
  env: url => ({
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: 'none',
    OPENAI_MODEL: 'played',
    QWEN_CODE_LEGACY_MCP_BLOCKING: '1'
  })
};

export const copilot = {
  file: '.copilot/mcp-config.json',
  config: ({ server }) => JSON.stringify({ ...entry(server, { type: 'local', tools: ['*'] }) }),
  trust: '.copilot/config.json',
  env: url => ({
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_MODEL: 'played',
    COPILOT_OFFLINE: 'true'
  })
};

export const opencode = {
  file: '.config/opencode/opencode.json',
  config: ({ url, server }) =>
    JSON.stringify({
      autoupdate: false,
      share: 'disabled',
      model: 'played/played',
      small_model: 'played/played',
      provider: {
        played: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${url}/v1`, apiKey: 'none' },
          models: { played: { tool_call: true } }
        }
      },
      ...(server && {
        mcp: { test: { type: 'local', command: server.words, environment: server.env, enabled: true } }
      })
    }),
  env: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1'
  })
};

// Writes the configuration into the agent's home; what its environment is then.
export function settle(agent, { home, url, server }) {
  if (agent.trust) write(join(home, agent.trust), JSON.stringify({ trustedFolders: [home] }));
  write(join(home, agent.file), agent.config({ home, url, server }));
  return { HOME: home, XDG_CONFIG_HOME: join(home, '.config'), ...agent.env(url) };
}
