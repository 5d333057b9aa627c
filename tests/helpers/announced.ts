/** The queues on which `gate ask` with this configuration starts questions, so that `gate ops worker` with it answers them. */
import { loadConfig, type ConfigSource } from '../../src/config';
import { resolveDatabase } from '../../src/config/databases';
import { compose } from '../../src/workers/composition';
import { servedName, servingOf } from '../../src/workers/serving';
import { questionQueues, type QuestionQueues } from '../../src/workers/task-queues';

export async function announcedQueues(source: ConfigSource, database: string): Promise<QuestionQueues> {
  const config = loadConfig(source);
  const composition = await compose(config);
  try {
    const serving = servingOf(config, composition, [resolveDatabase(config, database, source.cwd)]);
    return questionQueues(servedName(database, serving));
  } finally {
    await composition.close();
  }
}
