// Renewals of tests that are not about how processes of one incarnation are told apart (law 13):
// they all carry the same pair, as if each were sent again.
export const SENT_AGAIN = { pair: { sequence: 1, nonce: 1 }, known: [] } as const;
