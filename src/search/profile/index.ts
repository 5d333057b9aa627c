export { interpretProfile } from './interpret';
export {
  DEFAULT_PROFILE_BUDGET,
  profileQueries,
  type ProfileBudget,
  type ProfileJoin,
  type ProfileQueries,
} from './queries';
export { renderProfiles } from './render';
export { joinCandidates, selectProfileTargets, type ProfileTarget } from './targets';
