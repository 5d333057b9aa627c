import { continuation } from '../../../src/workflows/ending';

test('a run that is pinned to an older build than the current one asks to continue on the current one', () => {
  expect(continuation({ targetWorkerDeploymentVersionChanged: true })).toEqual({
    initialVersioningBehavior: 'AUTO_UPGRADE',
  });
});

test('any other run continues as it was', () => {
  expect(continuation({ targetWorkerDeploymentVersionChanged: false })).toEqual({});
});
