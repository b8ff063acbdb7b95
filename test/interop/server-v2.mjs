// A server made with SDK 2.x; the client's first words decide which era it serves.
import { completable, inputRequired, inputResponse, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { register } from './tools.mjs';
import { elicitation, sampling } from './questions.mjs';

// A modern server may not send requests: it answers with its question, and the client calls again
// with the answer.
function modernQuestion(request, kind, read) {
  return context => {
    const answer = inputResponse(context.mcpReq.inputResponses, 'answer');

    return answer.kind === kind
      ? read(answer)
      : inputRequired({ inputRequests: { answer: request } });
  };
}

const questions = {
  legacy: context => ({
    sample: question => context.mcpReq.requestSampling(sampling(question)),
    elicit: message => context.mcpReq.elicitInput(elicitation(message))
  }),
  modern: context => ({
    sample: question =>
      modernQuestion(
        inputRequired.createMessage(sampling(question)),
        'sampling',
        answer => answer.result
      )(context),
    elicit: message =>
      modernQuestion(
        inputRequired.elicit(elicitation(message)),
        'elicit',
        answer => answer
      )(context)
  })
};

serveStdio(({ era }) => {
  const server = new McpServer(
    { name: 'server-v2', version: '1' },
    { capabilities: { logging: {} } }
  );

  register(
    server,
    context => ({
      id: context.mcpReq.id,
      signal: context.mcpReq.signal,
      progressToken: context.mcpReq._meta?.progressToken,
      notify: context.mcpReq.notify,
      log: context.mcpReq.log,
      ...questions[era](context)
    }),
    completable
  );
  return server;
});
