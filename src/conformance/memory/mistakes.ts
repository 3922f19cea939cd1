/** What may be wrong with a backend; each must break a law of a suite. */
export interface Mistakes {
  readonly firstPageOnly?: boolean;
  readonly swallowsBrokenPage?: boolean;
  readonly listsForeign?: boolean;
  readonly dropsMarks?: boolean;
  readonly listsAllAsWorkers?: boolean;
  readonly dropsLateFailures?: boolean;
  readonly callsPendingMade?: boolean;
  readonly callsPendingFailed?: boolean;
  readonly checksOnlyItsOwn?: boolean;
  readonly tellsFailuresOnce?: boolean;
  readonly showsLateFailuresForEver?: boolean;
  readonly createsAgain?: boolean;
  readonly repeatsAfterLostReply?: boolean;
  readonly namesAllAlike?: boolean;
  readonly lostReplyIsFailure?: boolean;
  readonly absentIsAnError?: boolean;
  readonly trustsListings?: boolean;
  readonly deletesForeign?: boolean;
  readonly trustsTheShownMark?: boolean;
  readonly deletesAll?: boolean;
  readonly leavesDisks?: boolean;
  readonly suspendDeletes?: boolean;
  readonly suspendsAll?: boolean;
  readonly suspendsForeign?: boolean;
  readonly suspendsOnce?: boolean;
  readonly ignoresAbort?: boolean;
  readonly hangsForEver?: boolean;
  readonly everyFaultIsInternal?: boolean;
  readonly logsToken?: boolean;
  readonly accountAnew?: boolean;
  readonly claimsExact?: boolean;
  readonly neverHints?: boolean;
  readonly hintsForEver?: boolean;
  readonly hidesEndpoints?: boolean;
  /** In place of the one where the server reaches the machine. */
  readonly showsOwnHost?: boolean;
  readonly showsOnePort?: boolean;
  readonly showsPortAlways?: boolean;
  /** A repeat is then another request. */
  readonly countsEndFromNow?: boolean;
  readonly dropsEnd?: boolean;
  /** Neither the cloud nor the agent knows when the machine ends. */
  readonly forgetsEnd?: boolean;
  readonly hidesEnd?: boolean;
  /** Its kind does not say how its machines boot. */
  readonly forgetsBoots?: boolean;
  readonly dropsInstall?: boolean;
}
