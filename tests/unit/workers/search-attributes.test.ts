import type { Client } from '@temporalio/client';
import { hasSearchAttributes, registerSearchAttributes } from '../../../src/workers/search-attributes';

function answering(answer: () => Promise<unknown>) {
  const asked = { list: 0, add: 0 };
  const operatorService = {
    listSearchAttributes: () => {
      asked.list += 1;
      return answer();
    },
    addSearchAttributes: () => {
      asked.add += 1;
      return Promise.resolve({});
    },
  };
  const client = { options: { namespace: 'default' }, connection: { operatorService } } as unknown as Client;
  return { client, asked };
}

const refused = (code: number) => () => Promise.reject(Object.assign(new Error('refused'), { code }));

describe('what a namespace knows', () => {
  test('a server that does not let the caller look counts as one without, and is asked once', async () => {
    for (const code of [7, 12]) {
      const { client, asked } = answering(refused(code));
      expect(await hasSearchAttributes(client)).toBe(false);
      expect(await hasSearchAttributes(client)).toBe(false);
      expect(asked.list).toBe(1);
      await expect(registerSearchAttributes(client)).rejects.toMatchObject({ code });
    }
  });

  test('an outage is no answer: it is thrown, and the next call asks again', async () => {
    const { client, asked } = answering(refused(14));
    await expect(hasSearchAttributes(client)).rejects.toMatchObject({ code: 14 });
    await expect(hasSearchAttributes(client)).rejects.toMatchObject({ code: 14 });
    expect(asked.list).toBe(2);
  });

  test('a name that is in use with another type is left alone, and nothing is registered or set', async () => {
    const { client, asked } = answering(() => Promise.resolve({ customAttributes: { GateCalls: 2 } }));
    const setup = await registerSearchAttributes(client);
    expect(setup).toEqual({ added: [], present: [], conflicts: ['GateCalls'] });
    expect(asked.add).toBe(0);
    expect(await hasSearchAttributes(client)).toBe(false);
  });
});
