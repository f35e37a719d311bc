// Original file: proto/cadastre/v1/ownership.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { AcceptRequest as _cadastre_v1_AcceptRequest, AcceptRequest__Output as _cadastre_v1_AcceptRequest__Output } from '../../cadastre/v1/AcceptRequest.ts';
import type { AcceptResponse as _cadastre_v1_AcceptResponse, AcceptResponse__Output as _cadastre_v1_AcceptResponse__Output } from '../../cadastre/v1/AcceptResponse.ts';
import type { GrantRequest as _cadastre_v1_GrantRequest, GrantRequest__Output as _cadastre_v1_GrantRequest__Output } from '../../cadastre/v1/GrantRequest.ts';
import type { GrantResponse as _cadastre_v1_GrantResponse, GrantResponse__Output as _cadastre_v1_GrantResponse__Output } from '../../cadastre/v1/GrantResponse.ts';
import type { OpenSessionRequest as _cadastre_v1_OpenSessionRequest, OpenSessionRequest__Output as _cadastre_v1_OpenSessionRequest__Output } from '../../cadastre/v1/OpenSessionRequest.ts';
import type { OpenSessionResponse as _cadastre_v1_OpenSessionResponse, OpenSessionResponse__Output as _cadastre_v1_OpenSessionResponse__Output } from '../../cadastre/v1/OpenSessionResponse.ts';
import type { RegisterRequest as _cadastre_v1_RegisterRequest, RegisterRequest__Output as _cadastre_v1_RegisterRequest__Output } from '../../cadastre/v1/RegisterRequest.ts';
import type { RegisterResponse as _cadastre_v1_RegisterResponse, RegisterResponse__Output as _cadastre_v1_RegisterResponse__Output } from '../../cadastre/v1/RegisterResponse.ts';
import type { ReleaseRequest as _cadastre_v1_ReleaseRequest, ReleaseRequest__Output as _cadastre_v1_ReleaseRequest__Output } from '../../cadastre/v1/ReleaseRequest.ts';
import type { ReleaseResponse as _cadastre_v1_ReleaseResponse, ReleaseResponse__Output as _cadastre_v1_ReleaseResponse__Output } from '../../cadastre/v1/ReleaseResponse.ts';
import type { RenewRequest as _cadastre_v1_RenewRequest, RenewRequest__Output as _cadastre_v1_RenewRequest__Output } from '../../cadastre/v1/RenewRequest.ts';
import type { RenewResponse as _cadastre_v1_RenewResponse, RenewResponse__Output as _cadastre_v1_RenewResponse__Output } from '../../cadastre/v1/RenewResponse.ts';
import type { WithdrawSuccessorRequest as _cadastre_v1_WithdrawSuccessorRequest, WithdrawSuccessorRequest__Output as _cadastre_v1_WithdrawSuccessorRequest__Output } from '../../cadastre/v1/WithdrawSuccessorRequest.ts';
import type { WithdrawSuccessorResponse as _cadastre_v1_WithdrawSuccessorResponse, WithdrawSuccessorResponse__Output as _cadastre_v1_WithdrawSuccessorResponse__Output } from '../../cadastre/v1/WithdrawSuccessorResponse.ts';

export interface OwnershipClient extends grpc.Client {
  Accept(argument: _cadastre_v1_AcceptRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_AcceptResponse__Output>): grpc.ClientUnaryCall;
  Accept(argument: _cadastre_v1_AcceptRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_AcceptResponse__Output>): grpc.ClientUnaryCall;
  Accept(argument: _cadastre_v1_AcceptRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_AcceptResponse__Output>): grpc.ClientUnaryCall;
  Accept(argument: _cadastre_v1_AcceptRequest, callback: grpc.requestCallback<_cadastre_v1_AcceptResponse__Output>): grpc.ClientUnaryCall;
  accept(argument: _cadastre_v1_AcceptRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_AcceptResponse__Output>): grpc.ClientUnaryCall;
  accept(argument: _cadastre_v1_AcceptRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_AcceptResponse__Output>): grpc.ClientUnaryCall;
  accept(argument: _cadastre_v1_AcceptRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_AcceptResponse__Output>): grpc.ClientUnaryCall;
  accept(argument: _cadastre_v1_AcceptRequest, callback: grpc.requestCallback<_cadastre_v1_AcceptResponse__Output>): grpc.ClientUnaryCall;
  
  Grant(argument: _cadastre_v1_GrantRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_GrantResponse__Output>): grpc.ClientUnaryCall;
  Grant(argument: _cadastre_v1_GrantRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_GrantResponse__Output>): grpc.ClientUnaryCall;
  Grant(argument: _cadastre_v1_GrantRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_GrantResponse__Output>): grpc.ClientUnaryCall;
  Grant(argument: _cadastre_v1_GrantRequest, callback: grpc.requestCallback<_cadastre_v1_GrantResponse__Output>): grpc.ClientUnaryCall;
  grant(argument: _cadastre_v1_GrantRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_GrantResponse__Output>): grpc.ClientUnaryCall;
  grant(argument: _cadastre_v1_GrantRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_GrantResponse__Output>): grpc.ClientUnaryCall;
  grant(argument: _cadastre_v1_GrantRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_GrantResponse__Output>): grpc.ClientUnaryCall;
  grant(argument: _cadastre_v1_GrantRequest, callback: grpc.requestCallback<_cadastre_v1_GrantResponse__Output>): grpc.ClientUnaryCall;
  
  OpenSession(argument: _cadastre_v1_OpenSessionRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_OpenSessionResponse__Output>): grpc.ClientUnaryCall;
  OpenSession(argument: _cadastre_v1_OpenSessionRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_OpenSessionResponse__Output>): grpc.ClientUnaryCall;
  OpenSession(argument: _cadastre_v1_OpenSessionRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_OpenSessionResponse__Output>): grpc.ClientUnaryCall;
  OpenSession(argument: _cadastre_v1_OpenSessionRequest, callback: grpc.requestCallback<_cadastre_v1_OpenSessionResponse__Output>): grpc.ClientUnaryCall;
  openSession(argument: _cadastre_v1_OpenSessionRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_OpenSessionResponse__Output>): grpc.ClientUnaryCall;
  openSession(argument: _cadastre_v1_OpenSessionRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_OpenSessionResponse__Output>): grpc.ClientUnaryCall;
  openSession(argument: _cadastre_v1_OpenSessionRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_OpenSessionResponse__Output>): grpc.ClientUnaryCall;
  openSession(argument: _cadastre_v1_OpenSessionRequest, callback: grpc.requestCallback<_cadastre_v1_OpenSessionResponse__Output>): grpc.ClientUnaryCall;
  
  Register(argument: _cadastre_v1_RegisterRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_RegisterResponse__Output>): grpc.ClientUnaryCall;
  Register(argument: _cadastre_v1_RegisterRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_RegisterResponse__Output>): grpc.ClientUnaryCall;
  Register(argument: _cadastre_v1_RegisterRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_RegisterResponse__Output>): grpc.ClientUnaryCall;
  Register(argument: _cadastre_v1_RegisterRequest, callback: grpc.requestCallback<_cadastre_v1_RegisterResponse__Output>): grpc.ClientUnaryCall;
  register(argument: _cadastre_v1_RegisterRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_RegisterResponse__Output>): grpc.ClientUnaryCall;
  register(argument: _cadastre_v1_RegisterRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_RegisterResponse__Output>): grpc.ClientUnaryCall;
  register(argument: _cadastre_v1_RegisterRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_RegisterResponse__Output>): grpc.ClientUnaryCall;
  register(argument: _cadastre_v1_RegisterRequest, callback: grpc.requestCallback<_cadastre_v1_RegisterResponse__Output>): grpc.ClientUnaryCall;
  
  Release(argument: _cadastre_v1_ReleaseRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_ReleaseResponse__Output>): grpc.ClientUnaryCall;
  Release(argument: _cadastre_v1_ReleaseRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_ReleaseResponse__Output>): grpc.ClientUnaryCall;
  Release(argument: _cadastre_v1_ReleaseRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_ReleaseResponse__Output>): grpc.ClientUnaryCall;
  Release(argument: _cadastre_v1_ReleaseRequest, callback: grpc.requestCallback<_cadastre_v1_ReleaseResponse__Output>): grpc.ClientUnaryCall;
  release(argument: _cadastre_v1_ReleaseRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_ReleaseResponse__Output>): grpc.ClientUnaryCall;
  release(argument: _cadastre_v1_ReleaseRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_ReleaseResponse__Output>): grpc.ClientUnaryCall;
  release(argument: _cadastre_v1_ReleaseRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_ReleaseResponse__Output>): grpc.ClientUnaryCall;
  release(argument: _cadastre_v1_ReleaseRequest, callback: grpc.requestCallback<_cadastre_v1_ReleaseResponse__Output>): grpc.ClientUnaryCall;
  
  Renew(argument: _cadastre_v1_RenewRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_RenewResponse__Output>): grpc.ClientUnaryCall;
  Renew(argument: _cadastre_v1_RenewRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_RenewResponse__Output>): grpc.ClientUnaryCall;
  Renew(argument: _cadastre_v1_RenewRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_RenewResponse__Output>): grpc.ClientUnaryCall;
  Renew(argument: _cadastre_v1_RenewRequest, callback: grpc.requestCallback<_cadastre_v1_RenewResponse__Output>): grpc.ClientUnaryCall;
  renew(argument: _cadastre_v1_RenewRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_RenewResponse__Output>): grpc.ClientUnaryCall;
  renew(argument: _cadastre_v1_RenewRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_RenewResponse__Output>): grpc.ClientUnaryCall;
  renew(argument: _cadastre_v1_RenewRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_RenewResponse__Output>): grpc.ClientUnaryCall;
  renew(argument: _cadastre_v1_RenewRequest, callback: grpc.requestCallback<_cadastre_v1_RenewResponse__Output>): grpc.ClientUnaryCall;
  
  WithdrawSuccessor(argument: _cadastre_v1_WithdrawSuccessorRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_WithdrawSuccessorResponse__Output>): grpc.ClientUnaryCall;
  WithdrawSuccessor(argument: _cadastre_v1_WithdrawSuccessorRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_WithdrawSuccessorResponse__Output>): grpc.ClientUnaryCall;
  WithdrawSuccessor(argument: _cadastre_v1_WithdrawSuccessorRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_WithdrawSuccessorResponse__Output>): grpc.ClientUnaryCall;
  WithdrawSuccessor(argument: _cadastre_v1_WithdrawSuccessorRequest, callback: grpc.requestCallback<_cadastre_v1_WithdrawSuccessorResponse__Output>): grpc.ClientUnaryCall;
  withdrawSuccessor(argument: _cadastre_v1_WithdrawSuccessorRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_WithdrawSuccessorResponse__Output>): grpc.ClientUnaryCall;
  withdrawSuccessor(argument: _cadastre_v1_WithdrawSuccessorRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_WithdrawSuccessorResponse__Output>): grpc.ClientUnaryCall;
  withdrawSuccessor(argument: _cadastre_v1_WithdrawSuccessorRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_WithdrawSuccessorResponse__Output>): grpc.ClientUnaryCall;
  withdrawSuccessor(argument: _cadastre_v1_WithdrawSuccessorRequest, callback: grpc.requestCallback<_cadastre_v1_WithdrawSuccessorResponse__Output>): grpc.ClientUnaryCall;
  
}

export interface OwnershipHandlers extends grpc.UntypedServiceImplementation {
  Accept: grpc.handleUnaryCall<_cadastre_v1_AcceptRequest__Output, _cadastre_v1_AcceptResponse>;
  
  Grant: grpc.handleUnaryCall<_cadastre_v1_GrantRequest__Output, _cadastre_v1_GrantResponse>;
  
  OpenSession: grpc.handleUnaryCall<_cadastre_v1_OpenSessionRequest__Output, _cadastre_v1_OpenSessionResponse>;
  
  Register: grpc.handleUnaryCall<_cadastre_v1_RegisterRequest__Output, _cadastre_v1_RegisterResponse>;
  
  Release: grpc.handleUnaryCall<_cadastre_v1_ReleaseRequest__Output, _cadastre_v1_ReleaseResponse>;
  
  Renew: grpc.handleUnaryCall<_cadastre_v1_RenewRequest__Output, _cadastre_v1_RenewResponse>;
  
  WithdrawSuccessor: grpc.handleUnaryCall<_cadastre_v1_WithdrawSuccessorRequest__Output, _cadastre_v1_WithdrawSuccessorResponse>;
  
}

export interface OwnershipDefinition extends grpc.ServiceDefinition {
  Accept: MethodDefinition<_cadastre_v1_AcceptRequest, _cadastre_v1_AcceptResponse, _cadastre_v1_AcceptRequest__Output, _cadastre_v1_AcceptResponse__Output>
  Grant: MethodDefinition<_cadastre_v1_GrantRequest, _cadastre_v1_GrantResponse, _cadastre_v1_GrantRequest__Output, _cadastre_v1_GrantResponse__Output>
  OpenSession: MethodDefinition<_cadastre_v1_OpenSessionRequest, _cadastre_v1_OpenSessionResponse, _cadastre_v1_OpenSessionRequest__Output, _cadastre_v1_OpenSessionResponse__Output>
  Register: MethodDefinition<_cadastre_v1_RegisterRequest, _cadastre_v1_RegisterResponse, _cadastre_v1_RegisterRequest__Output, _cadastre_v1_RegisterResponse__Output>
  Release: MethodDefinition<_cadastre_v1_ReleaseRequest, _cadastre_v1_ReleaseResponse, _cadastre_v1_ReleaseRequest__Output, _cadastre_v1_ReleaseResponse__Output>
  Renew: MethodDefinition<_cadastre_v1_RenewRequest, _cadastre_v1_RenewResponse, _cadastre_v1_RenewRequest__Output, _cadastre_v1_RenewResponse__Output>
  WithdrawSuccessor: MethodDefinition<_cadastre_v1_WithdrawSuccessorRequest, _cadastre_v1_WithdrawSuccessorResponse, _cadastre_v1_WithdrawSuccessorRequest__Output, _cadastre_v1_WithdrawSuccessorResponse__Output>
}
