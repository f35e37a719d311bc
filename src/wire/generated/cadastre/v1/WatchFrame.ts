// Original file: proto/cadastre/v1/directory.proto

import type { Header as _cadastre_v1_Header, Header__Output as _cadastre_v1_Header__Output } from '../../cadastre/v1/Header.ts';
import type { SnapshotFrame as _cadastre_v1_SnapshotFrame, SnapshotFrame__Output as _cadastre_v1_SnapshotFrame__Output } from '../../cadastre/v1/SnapshotFrame.ts';
import type { ChangesFrame as _cadastre_v1_ChangesFrame, ChangesFrame__Output as _cadastre_v1_ChangesFrame__Output } from '../../cadastre/v1/ChangesFrame.ts';
import type { ProgressFrame as _cadastre_v1_ProgressFrame, ProgressFrame__Output as _cadastre_v1_ProgressFrame__Output } from '../../cadastre/v1/ProgressFrame.ts';

export interface WatchFrame {
  'header'?: (_cadastre_v1_Header | null);
  'snapshot'?: (_cadastre_v1_SnapshotFrame | null);
  'changes'?: (_cadastre_v1_ChangesFrame | null);
  'progress'?: (_cadastre_v1_ProgressFrame | null);
  'resumeToken'?: (Buffer | Uint8Array | string);
  'frame'?: "snapshot"|"changes"|"progress";
}

export interface WatchFrame__Output {
  'header': (_cadastre_v1_Header__Output | null);
  'snapshot'?: (_cadastre_v1_SnapshotFrame__Output | null);
  'changes'?: (_cadastre_v1_ChangesFrame__Output | null);
  'progress'?: (_cadastre_v1_ProgressFrame__Output | null);
  'resumeToken': (Buffer);
  'frame'?: "snapshot"|"changes"|"progress";
}
