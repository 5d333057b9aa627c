import { providerProblem } from '../../../src/cli/deploy-problems';

const USER = 'arn:aws:sts::1:assumed-role/temporal/session';

// As Temporal 1.32 and the AWS SDK for Go write them.
test.each([
  [
    "all: Could not instantiate compute provider with type 'k8s'",
    'the server allows no provider k8s: in its dynamic configuration, set workercontroller.enabled and add k8s to workercontroller.compute_providers.enabled and build it with -tags computeprovider_k8s',
  ],
  [
    `all: cannot connect to the compute provider: failed to assume role arn:aws:iam::1:role/invoke: operation error STS: AssumeRole, https response error StatusCode: 403, RequestID: r, api error AccessDenied: User: ${USER} is not authorized to perform: sts:AssumeRole on resource: arn:aws:iam::1:role/invoke`,
    `${USER} may not assume arn:aws:iam::1:role/invoke: allow it in the role's trust policy, with the external id that was given`,
  ],
  [
    `all: cannot access the compute resource: operation error Lambda: GetFunction, https response error StatusCode: 403, RequestID: r, AccessDeniedException: User: ${USER} is not authorized to perform: lambda:GetFunction on resource: arn:aws:lambda:eu-west-1:1:function:gate:1 because no identity-based policy allows the lambda:GetFunction action`,
    `${USER} may not lambda:GetFunction on arn:aws:lambda:eu-west-1:1:function:gate:1: allow it in the role's policy`,
  ],
  [
    'all: AWS Lambda compute provider requires "role_external_id" to be configured',
    'the server requires --external-id: give it',
  ],
  ['all: project not found in config', 'the server refuses these settings: project not found in config'],
])('what a server says of %s is one line with what to change', (text, line) => {
  expect(providerProblem(text)).toBe(line);
});
