"""Idioms of NumPy programs: expressions of an array x of shape (2, 3), and statements that write into new arrays."""

EXPRESSIONS = r"""
x.sum()
x.sum(0)
x.sum(axis=1)
x.sum(axis=(0,1))
x.sum(keepdims=True)
x.mean()
x.mean(1)
x.std()
x.std(0)
x.std(axis=0,ddof=1)
x.var(1)
x.max()
x.max(1)
x.min(axis=0)
x.argmax()
x.argmax(1)
x.argmin(0)
x.argsort()
x.argsort(axis=0)
x.prod()
x.prod(1)
x.cumsum()
x.cumsum(1)
x.cumprod(0)
x.round(1)
x.clip(0.35,1.0)
x.clip(max=1.0)
x.ptp() if hasattr(x,'ptp') else np.ptp(x)
x.trace()
x.diagonal()
x.diagonal(1)
x.take([0,3])
x.take([0,1],axis=1)
x.repeat(2)
x.repeat(2,axis=0)
x.repeat([1,2,1],axis=1)
x.reshape(3,2)
x.reshape((3,2))
x.reshape(-1)
x.reshape(3,2,order='F')
x.reshape([6])
x.ravel()
x.ravel('F')
x.ravel(order='F')
x.T
x.transpose()
x.transpose(1,0)
x.transpose((1,0))
x.transpose(0,1)
x.swapaxes(0,1)
x[None].squeeze()
x[None].squeeze(0)
x[None].squeeze(axis=0)
x.any()
x.all()
(x>1).any(axis=0)
(x>1).all(1)
(x>1).sum()
(x>1).sum()*0.1
(x>1).mean()
x.nonzero()[0]
x.nonzero()[1]
x[0].searchsorted(1.0)
x[0].dot(x[1])
x.dot(x.T)
x @ x.T
x.astype(int)
x.astype(np.float32)
x.astype(float)
x.astype(complex)
x.astype('float64')
x.conj()
x.real
x.imag
x.copy()
len(x)
x.shape
x.size
x.ndim
x.dtype.name
x.dtype.kind
x.nbytes
x.itemsize
x[0,0]
x[0]
x[:,1]
x[:, ::-1]
x[::-1]
x[..., 0]
x[:, [0,2]]
x[[0,1],[1,2]]
x[x>1]
x[np.array([True,False])]
x[:, np.newaxis]
x[-1,-1]
x[1:,:2]
list(x[0])
[v*2 for v in x[0]]
[float(v) for v in x[0]]
sum(x[0])
max(x[0])
min(x[0],key=lambda v:-v)
sorted(x[0])
any(x[0]>1)
abs(-x)
-x
+x
x**2
x**0.5
2**x
x//0.37
x%0.37
-x%0.37
-x//0.37
1/x
x/2
x-1
1-x
x==x
x!=x
x<1
x>=1
(x>1)&(x<2)
~(x>1)
x+np.arange(3)
np.arange(3)*x
np.arange(3.)*x
np.linspace(0,1,3)*x
x*np.float64(2)
np.float32(2)*x
round(x[0,0],1)
round(x[0,0])
bool(x[0,0])
x[0,0]>1
x[0,0] if x[0,0]>1 else -x[0,0]
np.sum(x)
np.sum(x,0)
np.mean(x,axis=1)
np.median(x)
np.median(x,axis=0)
np.percentile(x,30)
np.quantile(x,[.2,.7],axis=1)
np.std(x)
np.var(x,ddof=1)
np.max(x)
np.amax(x,1)
np.minimum(x,1)
np.maximum(x,x[::-1])
np.argmax(x,axis=1)
np.sort(x)
np.sort(x,axis=0)
np.sort(x,axis=None)
np.argsort(x)
np.cumsum(x)
np.diff(x)
np.diff(x,axis=0)
np.diff(x,n=2)
np.gradient(x[0])
np.trapezoid(x) if hasattr(np,'trapezoid') else np.trapz(x)
np.cross(x[0],x[1])
np.dot(x,x.T)
np.inner(x,x)
np.outer(x[0],x[1])
np.tensordot(x,x,2)
np.einsum('ij,kj->ik',x,x)
np.einsum('ij->j',x)
np.kron(x,x)
np.linalg.norm(x)
np.linalg.norm(x,axis=1)
np.linalg.norm(x,1)
np.linalg.inv(x@x.T)
np.linalg.det(x@x.T)
np.linalg.solve(x@x.T,x[:,0])
np.linalg.eigvalsh(x@x.T)
np.linalg.svd(x)[1]
np.linalg.lstsq(x.T,x[0],rcond=None)[0]
np.linalg.pinv(x)
np.linalg.matrix_power(x@x.T,2)
np.linalg.cholesky(x@x.T)
np.linalg.qr(x)[1]
np.trace(x)
np.concatenate([x,x])
np.concatenate((x,x),axis=1)
np.stack([x,x],-1)
np.vstack([x[0],x[1]])
np.hstack([x[0],x[1]])
np.column_stack([x[0],x[1]])
np.append(x,1.0)
np.append(x,x,axis=0)
np.insert(x[0],1,5.)
np.delete(x,1,axis=1)
np.tile(x,2)
np.tile(x,(2,1))
np.repeat(x,2)
np.repeat(x,2,axis=1)
np.roll(x,1)
np.roll(x,1,axis=1)
np.flip(x)
np.flip(x,0)
np.fliplr(x)
np.rot90(x)
np.pad(x,1)
np.pad(x,((0,1),(1,0)),mode='edge')
np.where(x>1,x,0)
np.where(x>1)[0]
np.select([x>1,x>.5],[x,2*x],0)
np.piecewise(x,[x>1],[lambda v:v,0])
np.clip(x,0.5,1)
np.abs(x)
np.sign(x)
np.exp(x)
np.log(x)
np.log10(x)
np.sqrt(x)
np.cbrt(x)
np.sin(x)
np.arctan2(x,x[::-1])
np.hypot(x,1)
np.power(x,3)
np.mod(x,.37)
np.fmod(-x,.37)
np.floor(x)
np.ceil(x)
np.round(x,1)
np.rint(x)
np.trunc(x)
np.floor_divide(x,.37)
np.heaviside(x-1,.5)
np.isnan(x)
np.isfinite(x)
np.nan_to_num(x)
np.unique(x)
np.searchsorted(x[0],1)
np.digitize(x,[.5,1.])
np.histogram(x,3)[0]
np.bincount([0,1,1],weights=x[0])
np.interp(.5,[0,1,2],x[0])
np.interp(x,[0,1,2],[1.,2.,5.])
np.polyval(x[0],2.)
np.polyval([1.,2.],x)
np.polyfit([0,1,2],x[0],1)
np.convolve(x[0],x[1])
np.convolve(x[0],[1.,1.],'same')
np.correlate(x[0],x[1],'full')
np.fft.fft(x).real
np.fft.rfft(x[0]).imag
np.fft.ifft(x).real
np.fft.fftfreq(4)*x[0,0]
np.corrcoef(x)
np.cov(x)
np.average(x,weights=x)
np.average(x[0],weights=[1.,2.,3.])
np.ones_like(x)*x
np.zeros_like(x)+x
np.full_like(x,2.)
np.full(2,x[0,0])
np.full((2,2),x[0,0])
np.eye(2)*x[0,0]
np.diag(x[0])
np.diag(x)
np.triu(x)
np.tril(x,-1)
np.vander(x[0],3)
np.meshgrid(x[0],x[1])[0]
np.atleast_2d(x[0])
np.atleast_1d(x[0,0])
np.expand_dims(x,0)
np.squeeze(x[None])
np.moveaxis(x,0,1)
np.transpose(x)
np.broadcast_to(x[0],(2,3))
np.array([x[0,0],1.0])
np.array([x[0],x[1]])
np.array([[x[0,0],0],[1,x[1,1]]])
np.array((x[0,0],x[0,1]))
np.array(x)
np.array(x[0,0])
np.asarray([x[0,0]])
np.array([1,2,x[0,0]])
np.array(x,dtype=complex)
np.array([x[0,0]],dtype=np.float32)
np.array(x[0],ndmin=2)
np.asarray(x,dtype=float)
np.ascontiguousarray(x.T)
np.r_[x[0],1.0]
np.r_[0:3,x[0]]
np.c_[x[0],x[1]]
np.allclose(x,x)
np.array_equal(x,x)
np.isclose(x,1.2)
np.any(x>2)
np.all(x>0)
np.count_nonzero(x>1)
np.ndim(x)
np.shape(x)
np.size(x)
np.size(x,0)
np.isscalar(x[0,0])
np.isrealobj(x)
np.iscomplexobj(x)
np.result_type(x,1j)
np.nanmean(x)
np.nansum(x,0)
np.nanmax(x)
np.apply_along_axis(lambda v:v.sum(),1,x)
np.apply_along_axis(np.sum,0,x)
np.add.reduce(x)
np.multiply.accumulate(x,1)
np.add.outer(x[0],x[1])
np.maximum.reduce(x)
np.float64(x[0,0])
np.float64(x[0,0])*2
float(x[0,0])
complex(x[0,0],2.)
complex(x[0,0])
abs(complex(x[0,0],2.))
math.sin(x[0,0])
math.floor(x[0,1])
math.pow(x[0,0],2)
math.log(x[0,0],2)
math.sqrt(x[0,0])
math.hypot(x[0,0],x[0,1])
math.isnan(x[0,0])
math.pi*x[0,0]
math.ceil(x[0,0])
math.exp(-x[0,0])
math.trunc(x[1,1])
isinstance(x,np.ndarray)
isinstance(x[0],(list,np.ndarray))
isinstance(x[0,0],(int,float))
isinstance(x[0,0],np.ndarray)
isinstance(x[0,0],np.generic)
isinstance(x[0,0],complex)
isinstance(np.argmax(x),np.integer)
hasattr(x,'__len__')
hasattr(x[0,0],'__len__')
hasattr(x,'shape')
callable(x)
x.dtype==float
x.dtype==np.float64
x.dtype!=np.float32
np.issubdtype(x.dtype,np.integer)
np.finfo(x.dtype).eps
x.dtype.itemsize
str(x.dtype)
x is None
x[0,0]==x[0,0]
type(x)==np.ndarray
np.zeros(3)+x[0]
np.zeros((2,3),dtype=x.dtype)+x
np.empty(x.shape).shape
np.ones(2)@x
np.sum([x[0,0],x[0,1]])
np.max([x[0,0],x[0,1]])
np.mean([x[0],x[1]],axis=0)
np.dot([x[0,0],1.],[2.,x[0,1]])
np.sqrt([x[0,0],4.])
np.prod([x[0,0],2.])
np.linalg.norm([x[0,0],1.])
np.hstack([x[0,0],x[0,1]])
np.concatenate([[x[0,0]],[1.,2.]])
np.vstack([[x[0,0],1.],[2.,x[0,1]]])
np.cumsum([x[0,0],x[0,1]])
np.outer([x[0,0],1.],x[0])
np.linalg.det([[x[0,0],1.],[2.,x[0,1]]])
np.minimum(x[0,0],3.)
np.where(x[0,0]>1,x[0,0],0.)
np.where([True,False],[x[0,0],1.],0.)
x.flags.c_contiguous
np.ravel_multi_index((1,2),x.shape)
np.unravel_index(np.argmax(x),x.shape)
np.ix_([0,1],[0,2])[0]
x[np.ix_([0,1],[0,2])]
x[np.triu_indices(2)]
np.lexsort((x[0],x[1]))
np.take_along_axis(x,np.argsort(x,1),1)
np.ediff1d(x)
np.sinc(x)
np.i0(x)
np.angle(x+1j)
np.real(x+1j)
np.abs(x+1j)
np.conj(x+1j)
(x+1j).imag
(x+1j).real.sum()
x.max(initial=5.)
x.sum(where=x>1)
np.sum(x,where=x>1)
np.fromiter([1.,2.],float)*x[0,0]
np.frombuffer(b'12345678')*0*x[0,0]
np.logspace(0,1,3)*x
np.geomspace(1,4,3)*x
np.linspace(x[0,0],2,3)
np.linspace(0,x[0],3)
np.arange(3)*x[0,0]
np.trapezoid(x[0],[0,1,3]) if hasattr(np,'trapezoid') else 0
np.add(x,1,where=True)
np.multiply(x,x,dtype=np.float64)
np.true_divide(x,2)
np.ptp(x)
np.fix(x)
np.signbit(x)
np.nextafter(x,2)
np.logaddexp(x,x)
np.deg2rad(x)
np.unwrap(x[0]*4)
np.array_split(x[0],2)[0]
np.split(x,3,1)[1]
np.dstack([x,x])
np.block([[x],[x]])
np.setdiff1d([1,2],[1])
np.partition(x,1)
x[0].argpartition(1)
np.rollaxis(x,1)
np.matmul(x,x.T)
np.vdot(x[0],x[1])
np.linalg.slogdet(x@x.T)[1]
np.linalg.cond(x@x.T)
np.linalg.matrix_rank(x)
np.linalg.multi_dot([x,x.T,x])
np.linalg.eigh(x@x.T)[0]
np.roots([1.,-3.,2.])
np.poly([1.,2.])
np.polyadd([1.],x[0])
np.polymul(x[0],[1.,2.])
np.polyder(x[0])
np.cumulative_sum(x[0]) if hasattr(np,'cumulative_sum') else 0
(x>1)|(x<0.5)
int(np.floor(x[0,1]))
isinstance(x[0,0],np.floating)
""".strip().splitlines()

STATEMENTS = r"""
y=x.copy(); y[0]+=y[1]; return y
y=x*1; a=y[0,0]; y[0,0]=9; return y+a
y=x*1; a=y[0]; y[0,0]=9*x[1,1]; return y+a[0]
y=x*1; a,b=y; a*=2; return y
y=x*1; y[0],y[1]=y[1].copy(),y[0].copy(); return y
y=x*1; y[[0,1]]=y[[1,0]]; return y
z=x[0]*1; z[0],z[1]=z[1],z[0]; return z
z=x[0]*1; i,j,k=z; z[:]=0; return z+i+j*k
z=x[0]*1; p=z; p+=1; return z
z=x[0]*1; p=z; p=p+1; return z
s=x[0,0]; q=s; s+=1; return q*s
s=0.; t=s; s+=x[0,0]; return s+t
s=x[0,0]; s*=s; s-=1; s/=3; s**=2; return s
out=np.zeros((2,3)); np.add(x,1,out=out); return out
out=np.zeros((2,3)); np.sum(x,axis=0,out=out[0]); return out
out=np.zeros((2,3)); out[...]=x; out.T[0]=1; return out
out=np.zeros(6); out.reshape(2,3)[:]=x; return out
out=np.zeros((2,3)); out.ravel()[1]=x[0,0]; return out
out=np.zeros((2,3)); out.flatten()[1]=x[0,0]; return out
out=np.zeros((2,3)); v=out[:,::2]; v+=x[:,:2]; return out
out=np.zeros((2,3)); out[x>1]=x[x>1]; return out
out=np.zeros((2,3)); out[x>1]+=1; out[out==0]=x[0,0]; return out
out=np.ones((2,3)); out*=x; out/=2; out-=x[0]; out**=2; return out
out=np.zeros(3); np.add.at(out,[0,0,1],x[0]); return out
out=np.zeros((3,3)); np.fill_diagonal(out,x[0]); return out
out=np.zeros(3); np.put(out,[0,2],x[0,:2]); return out
out=np.zeros(3); np.copyto(out,x[0],where=x[0]>1); return out
out=np.zeros((2,3)); np.place(out,x>1,x[0]); return out
out=np.zeros((2,3)); np.putmask(out,x>1,x*2); return out
out=np.zeros((2,3)); out[:, [0,2]]=x[:, [1,0]]; return out
out=np.zeros((2,3)); out[0]=x[0,0]; out[1]=[1,2,x[0,1]]; return out
out=np.zeros((2,2,3)); out[0,:,1]=x[:,0]; out[...,2]=x[:,1]; return out
out=np.empty(3); out.fill(x[0,0]); return out
out=np.empty((2,3)); out[:]=np.nan; out[0]=x[0]; return np.nan_to_num(out)
out=np.array([0.,0.,0.]); out[1]=x[0,0]; return out
out=np.array(x); out[0]=0; return out+x
out=np.asarray(x); return out is x
l=[x[0,0]]*3; l[1]=l[1]*2; return np.array(l)
l=list(x[0]); l[0]+=1; return np.array(l)
y=x*1; y.sort(); return y
y=x*1; y.sort(axis=0); return y
y=x*1; y.partition(1); return y
y=x*1; y=y.T; y+=1; return y
y=np.zeros_like(x); y[0]=x[0]; return y
y=np.ones_like(x[0]); y[1:]-=x[0,:2]; return y
y=np.empty_like(x); y[:]=2*x; return y
y=np.full_like(x,0.5); y+=x; return y
y=np.full(3,0.5); y[0]=x[0,0]; return y
y=np.eye(2); y[0,1]=x[0,0]; y[1,0]-=x[0,1]; return y@x
y=np.identity(2); y*=x[0,0]; return y
y=np.diag([1.,2.]); y[0,0]=x[0,0]; return y
y=np.tile(0.5,3); y[0]=x[0,0]; return y
y=np.linspace(0,1,3); y[1]=x[0,0]; return y
y=np.concatenate([np.zeros(2),np.ones(2)]); y[1]=x[0,0]; return y
y=np.arange(3.); y[1]=x[0,0]; return y
y=np.zeros(3)+1; y[0]=x[0,0]; return y
y=np.zeros(3).copy(); y[0]=x[0,0]; return y
y=np.zeros((2,2)).T; y[0,1]=x[0,0]; return y
y=np.repeat(0.,3); y[0]=x[0,0]; return y
y=np.array([[1.,2.],[3.,4.]]).sum(0); y[0]=x[0,0]; return y
y=np.zeros(3,complex); y[0]=x[0,0]; y[1]=1j*x[0,1]; return y.real+y.imag
y=np.zeros(2); y.real[0]=x[0,0]; return y
y=np.zeros(2,complex); y.real=x[0,:2]; y.imag[:]=x[1,:2]; return y.real*y.imag
y=x.real; y=y*1; y[0]=0; return y
y=np.meshgrid(x[0],x[1])[0]; y[0]=0; return y
y=np.roll(x,1); y[0]=0; return y+x
y=np.pad(x,1); y[0]=x[0,0]; return y
y=np.where(x>1,x,0.); y[0]=0; return y
y=np.sqrt(x); y[y>1]=1; return y
y=np.maximum(x,1); y-=x; return y
y=np.atleast_1d(x[0,0]); y[0]=5; return y+x[0,0]
y=np.squeeze(x[None])*1; y[0]=1; return y
y=np.moveaxis(x*1,0,1); y[0]=1; return y
z=x*1; y=np.moveaxis(z,0,1); y[0]=1; return z
z=x*1; y=np.expand_dims(z,0); y[0,0]=1; return z
z=x*1; y=np.transpose(z); y[0]=1; return z
z=x*1; y=np.reshape(z,(3,2)); y[0]=1; return z
z=x*1; y=np.ravel(z); y[0]=1; return z
z=x*1; y=z.view(); y[0]=1; return z
z=x*1; y=np.flip(z,1); y[0]=1; return z
z=x*1; y=np.rot90(z); y[0]=1; return z
z=x*1; y=np.split(z,3,axis=1); y[0][:]=1; return z
z=x*1; y=np.diagonal(z); return y*2
z=x*1; y=np.swapaxes(z,0,1); y[0]=1; return z
z=x*1; y=np.rollaxis(z,1); y[0]=1; return z
z=x*1; y=z.squeeze(); y[0]=1; return z
z=x*1; y=np.atleast_3d(z); y[0]=1; return z
z=x*1; y=np.asarray(z); y[0]=1; return z
z=x*1; y=np.ascontiguousarray(z); y[0]=1; return z
z=x*1; y=np.conj(z); y[0]=1; return z
z=x*1; y=np.real(z); y[0]=1; return z
z=x*1; y=z.astype(float); y[0]=1; return z
z=x*1; y=z.astype(float,copy=False); y[0]=1; return z
z=x*1; y=+z; y[0]=1; return z
z=x*1; y=z.clip(0,9); y[0]=1; return z
z=x*1; y=np.abs(z); y[0]=1; return z
z=x*1; y=z.round(2); y[0]=1; return z
z=x*1; y=np.broadcast_arrays(z,z)[0]*1; y[0]=1; return z
z=x*1; y=np.nan_to_num(z); y[0]=1; return z
z=x*1; y=np.float64(z); y[0]=1; return z
z=x*1; y=z.conj(); y[0]=1; return z
z=x*1; y=z.copy(); y[0]=1; return z
z=x*1; y=z[:]; y[0]=1; return z
z=x*1; y=z[...]; y[0]=1; return z
z=x*1; y=z[None]; y[0,0]=1; return z
z=x*1; y=z[[0,1]]; y[0]=1; return z
z=x*1; y=z[z>1]; y[0]=1; return z
z=x*1; y=z.diagonal()*1; y[0]=1; return z
z=x*1; y=z.repeat(1); y[0]=1; return z
z=x*1; y=z.take([0]); y[0]=1; return z
z=x*1; y=z.swapaxes(0,1); y[0]=1; return z
z=x*1; y=z.reshape(-1); y[0]=1; return z
z=x*1; y=z.T.reshape(-1); y[0]=1; return z
z=x*1; y=z.T.ravel(); y[0]=1; return z
z=x*1; y=z.ravel('F'); y[0]=1; return z
z=x*1; y=z.transpose(); y[0]=1; return z
z=x*1; y=z.flatten(); y[0]=1; return z
z=x*1; y=np.triu(z); y[0]=1; return z
z=x*1; y=np.sort(z); y[0]=1; return z
z=x*1; y=np.where(True,z,0); y[0]=1; return z
z=x*1; y=np.concatenate([z]); y[0]=1; return z
z=x*1; y=np.hstack([z]); y[0]=1; return z
z=x*1; y=np.array([z])[0]; y[0]=1; return z
z=x*1; y=np.vstack([z]); y[0]=1; return z
z=x*1; y=np.copy(z); y[0]=1; return z
z=x*1; y=np.array(z); y[0]=1; return z
z=x*1; y=np.tile(z,1); y[0]=1; return z
z=x*1; y=np.broadcast_to(z,(2,3)); return y*1
z=x*1; y=np.real_if_close(z); y[0]=1; return z
z=x*1; y=np.squeeze(z); y[0]=1; return z
z=x*1; y=np.round(z,1); y[0]=1; return z
z=x*1; y=z.max(keepdims=True); y[0]=1; return z
z=x[:1]*1; y=z.sum(0); y[0]=1; return z
z=x[:1]*1; y=z.mean(0); y[0]=1; return z
z=x[:1]*1; y=z.cumsum(0); y[0]=1; return z
z=x[:1]*1; y=np.cumsum(z,0); y[0]=1; return z
z=x[:1]*1; y=z.max(0); y[0]=1; return z
z=x[:1]*1; y=z.prod(0); y[0]=1; return z
z=x[:1]*1; y=np.median(z,0); y[0]=1; return z
z=x*1; y=np.roll(z,0); y[0]=1; return z
z=x*1; y=np.pad(z,0); y[0]=1; return z
z=x*1; y=np.clip(z,None,9); y[0]=1; return z
z=x*1; y=z**1; y[0]=1; return z
z=x*1; y=np.positive(z); y[0]=1; return z
z=x*1; y=np.power(z,1); y[0]=1; return z
z=x*1; y=np.trim_zeros(z[0]); y[0]=1; return z
z=x*1; y=np.unwrap(z); y[0]=1; return z
z=x*1; y=np.fix(z); y[0]=1; return z
z=x*1; y=np.take_along_axis(z,np.argsort(z,1),1); y[0]=1; return z
z=x*1; y=np.select([z>0],[z]); y[0]=1; return z
z=x*1; y=np.block([z]); y[0]=1; return z
z=x*1; y=np.append(z,[]); y[0]=1; return z
z=x*1; y=np.resize(z,(2,3)); y[0]=1; return z
z=x*1; y=np.angle(z+0j); return y
z=x*1; y=np.interp(z,[0,9],[0,9]); y[0]=1; return z
z=x*1; y=np.dstack([z]); y[0]=1; return z
z=x*1; y=np.column_stack([z]); y[0]=1; return z
z=x*1; y=np.apply_along_axis(lambda v:v,1,z); y[0]=1; return z
z=x*1; y=np.piecewise(z,[z>0],[lambda v:v]); y[0]=1; return z
z=x*1; y=np.kron(1.,z); y[0]=1; return z
z=x*1; y=np.nanmax(z[:1],0); y[0]=1; return z
z=x*1; y=np.max(z[:1],0); y[0]=1; return z
z=x*1; y=np.sum([z],0); y[0]=1; return z
z=x*1; y=np.fft.fftshift(z); y[0]=1; return z
z=x*1; y=np.lib.stride_tricks.sliding_window_view(z[0],2); return y*1
z=x*1; y=np.require(z); y[0]=1; return z
z=x*1; y=float(z[0,0]); z[0,0]=7; return z+y
z=x*1; y=np.float64(z[0,0]); z[0,0]=7; return z+y
z=x*1; y=z.max(); z[:]=0; return z+y
z=x[0,:1]*1; y=z.squeeze(); z[:]=0; return z+y
z=x[0,:1]*1; y=z[0]; z[:]=0; return z+y
z=x[0,:1]*1; y=z.sum(); z[:]=0; return z+y
z=x[0,:1]*1; y=z.reshape(()); z[:]=0; return z+y
z=x[0]*1; m=z.max(); i=z.argmax(); z[i]=0; return z+m
z=x[0]*1; v=[w for w in z]; z[:]=0; return z+v[0]
z=x[0]*1; v=dict(enumerate(z)); z[:]=0; return z+v[0]
z=x[0]*1; f,*r=z; z[:]=0; return z+f+r[0]
z=x*1; v=[w for w in z]; z[:]=0; return v[0]
z=x*1; v=z[0,0:1]; z[:]=0; return v
z=x*1; v=z[0][0]; z[:]=0; return z+v
z=x*1; v=max(z[0]); z[:]=0; return z+v
z=x*1; v=sorted(z[0])[0]; z[:]=0; return z+v
z=x*1; v=sum(z[0]); z[:]=0; return z+v
z=x*1; v=z[tuple(np.argwhere(z>1)[0])]; z[:]=0; return z+v
z=x*1; v=np.take(z,1); z[:]=0; return z+v
z=x*1; v=z[np.unravel_index(1,z.shape)]; z[:]=0; return z+v
z=x*1; v=z[z==z.max()]; z[:]=0; return z+v[0]
z=x*1; v=z.ravel()[0]; z[:]=0; return z+v
z=x*1; v=next(iter(z[0])); z[:]=0; return z+v
z=x*1; v=list(zip(z[0],z[1]))[0][0]; z[:]=0; return z+v
z=x*1; v=list(map(lambda q:q, z[0]))[0]; z[:]=0; return z+v
z=x*1; v=list(reversed(z[0]))[0]; z[:]=0; return z+v
z=x*1; v=z.min(0)[0]; z[:]=0; return z+v
z=x*1; v=z.T[0,0]; z[:]=0; return z+v
z=x*1; v=z.real[0,0]; z[:]=0; return z+v
z=x*1; v=np.asarray(z)[0,0]; z[:]=0; return z+v
z=x*1; v=z[0,0]; v2=v; v2-=v; z[:]=0; return z+v
z=x*1; z[0,0]-=z[0,0]; return z
z=x*1; z[0]/=z[0,0]; return z
z=x*1; z[0]/=z[0].sum(); return z
z=x*1; z-=z.mean(0); z/=z.std(0); return z
z=x*1; z[1]-=z[1,0]/z[0,0]*z[0]; return z
z=x*1; z/=z[0,0]; return z
z=x*1; z[:,0]*=z[0,0]; return z
z=x*1; z[1:]+=z[:-1]; return z
z=x[0]*1; z[1:]-=z[:-1]; return z
z=x[0]*1; z[:-1]+=z[1:]; return z
z=x[0]*1; z[::-1]+=z; return z
z=x[0]*1; z+=z[::-1]; return z
z=x[0]*1; np.add(z[1:],z[:-1],out=z[1:]); return z
z=x[0]*1; np.cumsum(z,out=z); return z
""".strip().splitlines()

STATEMENTS += [
    "out=np.zeros(5); \nfor i in range(3): out[i:i+3]+=x[i%2]\nreturn out",
    "l=[]; \nfor r in x: l.append(r*2)\nreturn np.array(l)",
]
