/** What AWS runs in a function: takes invocations from Lambda's Runtime API and gives them to the handler, one at a time. */
const { request } = require('node:http');
const { join } = require('node:path');

const { AWS_LAMBDA_RUNTIME_API: host, LAMBDA_TASK_ROOT: root, _HANDLER } = process.env;
const agent = new (require('node:http').Agent)({ keepAlive: false });

function call(method, path, body) {
  return new Promise((resolve, reject) => {
    const sent = request(`http://${host}/2018-06-01/runtime/${path}`, { method, agent }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve({ headers: response.headers, text }));
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const told = (error) => ({ errorMessage: error.message, errorType: error.name, stackTrace: [] });

async function main() {
  const [file, name] = _HANDLER.split('.');
  let handler;
  try {
    handler = require(join(root, file))[name];
  } catch (error) {
    await call('POST', 'init/error', told(error));
    process.exit(1);
  }
  for (;;) {
    const { headers, text } = await call('GET', 'invocation/next');
    const id = headers['lambda-runtime-aws-request-id'];
    const deadline = Number(headers['lambda-runtime-deadline-ms']);
    const context = {
      awsRequestId: id,
      invokedFunctionArn: headers['lambda-runtime-invoked-function-arn'],
      getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    };
    try {
      await call('POST', `invocation/${id}/response`, (await handler(JSON.parse(text), context)) ?? null);
    } catch (error) {
      await call('POST', `invocation/${id}/error`, told(error));
    }
  }
}

void main();
