// Original file: proto/cadastre/v1/directory.proto

import type { RevisionChanges as _cadastre_v1_RevisionChanges, RevisionChanges__Output as _cadastre_v1_RevisionChanges__Output } from '../../cadastre/v1/RevisionChanges.ts';

export interface ChangesFrame {
  'revisions'?: (_cadastre_v1_RevisionChanges)[];
  'continues'?: (boolean);
}

export interface ChangesFrame__Output {
  'revisions': (_cadastre_v1_RevisionChanges__Output)[];
  'continues': (boolean);
}
