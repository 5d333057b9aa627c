/** The tree of branches (trajectories): every reading that was tried, with its probe, rows, predicates and verdicts. */
import type { HelperReport, OperatorView, WebObservation } from '../domain';
import { anchor, markup, type Html } from './html';
import { figuresText } from '../text/claim-text';
import { badge, details, head, hypothesisItem, link, resultOf, table } from './parts';
import { counted, visible } from './printable';
import { statement, type Rerun } from './sql-section';
import { searchTree, type AttemptNode, type Change, type TestNode, type TrajectoryNode, type TurnNode } from './tree';
import type { Trace } from './trace';
import { BRANCH_STATES, CLAIM_WORDS, STEP_STATES, TURN_WORDS } from './words';

const PROBE_ROWS = 10;

export function searchPart(trace: Trace, rerun: Rerun): Html | null {
  const tree = searchTree(trace);
  if (tree.roots.length === 0 && tree.loose.length === 0 && tree.conversation.length === 0) return null;
  const events = trace.state?.events ?? [];
  return markup`${
    tree.conversation.length > 0 &&
    markup`<h3 id="conversation">Conversation</h3>
      <p class="soft">Each line is one reply of the model; open it for what the database said.</p>
      <ul class="tree">
        ${tree.conversation.map((turn) => turnItem(turn, rerun))}
      </ul>`
  }
  <h3 id="search">Branches</h3>
    <p class="soft">Each line is one branch; below it, what was tried from there. Open a line for its probes and verdicts.</p>
    <ul class="tree">
      ${tree.roots.map((root) => trajectoryItem(root, trace, rerun))}
    </ul>
    ${
      tree.lookups.length > 0 &&
      markup`<h4>Lookups on the web</h4>
        <p class="soft">From outside the database: they can suggest readings, and prove none.</p>
        ${tree.lookups.map((lookup) => attemptBlock('web', lookup, rerun))}`
    }
    ${
      tree.loose.length > 0 &&
      markup`<h4>Attempts that no plan used</h4>
        ${tree.loose.map((attempt) => attemptBlock('loose', attempt, rerun))}`
    }
    ${
      events.length > 0 &&
      markup`<h4>Events</h4>
        <ul>
          ${events.map(
            (event) =>
              markup`<li>
                Iteration ${event.iteration}: ${event.kind.replaceAll('-', ' ')}, <code>${event.subject}</code>:
                ${event.detail}
              </li>`,
          )}
        </ul>`
    }`;
}

function turnItem({ id, action, said, candidate, claims, looks }: TurnNode, rerun: Rerun): Html {
  const line = markup`<code>${id}</code> ${TURN_WORDS[action]}${said !== '' && markup`: ${said}`}
    ${candidate !== null && markup`${badge('candidate', 'good')} ${link('candidate', candidate)}`}`;
  if (claims.length === 0 && looks.length === 0) return markup`<li>${line}</li>`;
  return markup`<li>
    <details>
      <summary>${line}</summary>
      <div class="card">
        ${claims.map(
          (claim) =>
            markup`<p>${badge(CLAIM_WORDS[claim.state].says, CLAIM_WORDS[claim.state].tone)} ${figuresText(claim)}: “${claim.statement}”</p>`,
        )}
        ${looks.flatMap(({ tests }) => tests.map((test, at) => lookBlock(`${anchor('look', id)}-${at + 1}`, test, rerun)))}
      </div>
    </details>
  </li>`;
}

/** `key`: unique on the page. */
function lookBlock(key: string, { why, probeSql, result }: TestNode, rerun: Rerun): Html {
  return markup`<div>
    ${why !== null && markup`<h4>${why}</h4>`} ${statement(key, probeSql, new Set(), rerun)}
    ${resultOf('Observed', result, PROBE_ROWS)}
  </div>`;
}

function trajectoryItem(node: TrajectoryNode, trace: Trace, rerun: Rerun): Html {
  const { trajectory, candidates, children } = node;
  const status = BRANCH_STATES[trajectory.status];
  const line = markup`<span id="${anchor('trajectory', trajectory.id)}"
    ><code>${trajectory.id}</code> ${headline(node)} ${badge(status.says, status.tone)}
    ${candidates.map(({ id }) => markup`${badge('candidate', 'good')} ${link('candidate', id)} `)}
    ${trajectory.mergedInto !== null && markup`<span class="soft">into ${link('trajectory', trajectory.mergedInto)}</span>`}</span
  >`;
  const inner = branch(node, trace, rerun);
  return markup`<li>
    ${inner === null ? line : details(line, markup`<div class="card">${inner}</div>`)}
    ${
      children.length > 0 &&
      markup`<ul class="tree">
        ${children.map((child) => trajectoryItem(child, trace, rerun))}
      </ul>`
    }
  </li>`;
}

function headline({ trajectory, changes, attempts }: TrajectoryNode): string {
  if (trajectory.via === 'root')
    return attempts.length > 0 ? 'the question, asked in steps' : 'the question, no plan yet';
  const grounded = changes.filter(({ to }) => to === 'grounded').map(({ operator }) => operator);
  const when = `iteration ${trajectory.iteration}`;
  if (trajectory.via === 'plan') return `${when}: a plan`;
  if (trajectory.via === 'replan') return `${when}: a revised plan`;
  const how = trajectory.via === 'reuse' ? 'used again' : 'proved';
  return `${when}: ${how} ${(grounded.length > 0 ? grounded : changes.map(({ operator }) => operator)).join(', ') || 'nothing'}`;
}

function branch({ trajectory, changes, attempts }: TrajectoryNode, trace: Trace, rerun: Rerun): Html | null {
  const plan = trajectory.plan;
  if (plan === null && attempts.length === 0) return null;
  const outline = plan === null ? undefined : trace.plans[plan.planId]?.outline;
  return markup`${outline && markup`<p>${outline}</p>`}
    <p class="soft">
      Progress ${Math.round(trajectory.progress * 100)} %, selected
      ${counted(trajectory.selections, 'time')}${trajectory.bottleneck !== null && markup`, most doubtful step <code>${trajectory.bottleneck}</code>`}
    </p>
    ${plan !== null && operatorsTable(plan.operators, changes)} ${attempts.map((attempt) => attemptBlock(trajectory.id, attempt, rerun))}`;
}

function operatorsTable(operators: readonly OperatorView[], changes: readonly Change[]): Html {
  const changed = new Set(changes.map(({ operator }) => operator));
  const rows = operators.map(({ name, intent, state, immaterial }) => {
    const { says, tone } = STEP_STATES[state];
    return markup`<tr>
      <td><code>${name}</code></td>
      <td>${intent}</td>
      <td>
        ${badge(says, tone)} ${immaterial !== null && badge('makes no difference', 'calm')}
        ${changed.has(name) && markup`<span class="soft">new</span>`}
      </td>
    </tr>`;
  });
  return table('Steps', ['Step', 'Means', 'State'].map(head), rows);
}

/** `place`: siblings may show the same attempt. */
function attemptBlock(place: string, attempt: AttemptNode, rerun: Rerun): Html {
  return markup`${attempt.note && markup`<p>${attempt.note}</p>`}${attempt.web && webBlock(attempt.id, attempt.web)}${attempt.helpers.map(helperBlock)}${attempt.tests.map((test, at) => testBlock(`${anchor(place, attempt.id)}-${test.operator}${at === 0 ? '' : `-${at + 1}`}`, attempt.id, test, rerun))}`;
}

function helperBlock({ task, helper, outcome, text }: HelperReport): Html {
  return markup`<div>
    <h4>Subtask: ${task}</h4>
    <p>${badge(outcome, outcome === 'reported' ? 'good' : 'warn')} ${helper !== null && markup`<code>${helper}</code>`}</p>
    ${details('What came back', markup`<pre>${visible(text.slice(0, SHOWN_CHARS))}</pre>`)}
  </div>`;
}

const SHOWN_CHARS = 2_000;

function webBlock(id: string, { tool, request, outcome, text }: WebObservation): Html {
  return markup`<div>
    <h4>Attempt <code>${id}</code>: <code>${tool}</code></h4>
    <p><code>${request}</code> ${badge(outcome, outcome === 'found' ? 'good' : 'warn')}</p>
    ${details('What came back', markup`<pre>${visible(text.slice(0, SHOWN_CHARS))}</pre>`)}
  </div>`;
}

/** `key`: unique on the page. */
function testBlock(key: string, id: string, test: TestNode, rerun: Rerun): Html {
  return markup`<div>
    <h4>Attempt <code>${id}</code> on <code>${test.operator}</code></h4>
    ${test.why !== null && markup`<p>${test.why}</p>`}
    ${statement(key, test.probeSql, new Set(), rerun)} ${resultOf('Observed', test.result, PROBE_ROWS)}
    <ul class="plain">
      ${test.hypotheses.map(hypothesisItem)}
    </ul>
    ${test.materiality !== null && markup`<p class="soft">Run under ${test.materiality.combinations} combinations of readings: ${test.materiality.immaterial ? 'the same answer under all' : 'the choice matters'}. ${test.materiality.reason}</p>`}
    ${test.rejected.map((error) => markup`<p class="soft">The SQL was refused: ${error}</p>`)}
    ${test.summary && markup`<p>${test.summary}</p>`}
  </div>`;
}
