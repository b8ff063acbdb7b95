// The parameters of what the test servers ask the person.
export const sampling = question => ({
  messages: [{ role: 'user', content: { type: 'text', text: question } }],
  maxTokens: 10
});

export const elicitation = message => ({
  message,
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
});
